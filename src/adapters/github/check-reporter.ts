import type { CheckReporter, CheckRun } from "../../ports.js";
import { isUncertain, statusOf } from "./client.js";
import { cut } from "./cut.js";
import { named, type Repository } from "./repository.js";

const longestSummary = 65_535;
const cutNote = "\n\n… (cut here: too long for a check)";

/** Gates as check runs. The external id names the result, so a check that is there is not made again. */
export function createCheckReporter(repository: Repository): CheckReporter {
  const names = named(repository);

  async function reported(headSha: string): Promise<Set<string>> {
    const found = new Set<string>();
    for (let page = 1; ; page++) {
      const query = { ...names, ref: headSha, filter: "all", per_page: 100, page } as const;
      const { data } = await repository.octokit.checks.listForRef(query);
      for (const { external_id } of data.check_runs) if (external_id) found.add(external_id);
      if (data.check_runs.length < 100) return found;
    }
  }

  async function create(headSha: string, run: CheckRun): Promise<void> {
    const output = { title: cut(run.title, 250, "…"), summary: cut(run.summary, longestSummary, cutNote) };
    const { name, conclusion, externalId } = run;
    await repository.octokit.checks.create({
      ...names,
      name,
      head_sha: headSha,
      external_id: externalId,
      status: "completed",
      conclusion,
      output,
    });
  }

  return {
    async report(headSha, runs, { fresh }) {
      if (runs.length === 0) return "reported";
      let there = fresh ? new Set<string>() : await reported(headSha);
      for (const run of runs) {
        if (there.has(run.externalId)) continue;
        try {
          await create(headSha, run);
        } catch (error) {
          if (statusOf(error) === 403) return "forbidden";
          if (!isUncertain(error)) throw error;
          there = await reported(headSha);
          if (!there.has(run.externalId)) await create(headSha, run);
        }
        there.add(run.externalId);
      }
      return "reported";
    },
  };
}
