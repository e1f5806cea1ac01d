import type { CheckReporter, CheckRun } from "../../ports.js";

export type OnCheck = (run: CheckRun, headSha: string) => void;

/** There is no place for checks in a checkout: each result is handed over once, to be printed. */
export function createLocalCheckReporter(onCheck: OnCheck): CheckReporter {
  const shown = new Set<string>();
  return {
    async report(headSha, runs) {
      for (const run of runs) {
        const key = `${headSha} ${run.externalId}`;
        if (shown.has(key)) continue;
        shown.add(key);
        onCheck(run, headSha);
      }
      return "reported";
    },
  };
}
