import type { CheckReporter, CheckRun } from "../../ports.js";
import { isUncertain } from "./client.js";
import { named, type Repository } from "./repository.js";

const longestSummary = 65_535;

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
    const output = { title: run.title.slice(0, 250), summary: cut(run.summary) };
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
      if (runs.length === 0) return;
      let there = fresh ? new Set<string>() : await reported(headSha);
      for (const run of runs) {
        if (there.has(run.externalId)) continue;
        try {
          await create(headSha, run);
        } catch (error) {
          if (!isUncertain(error)) throw error;
          there = await reported(headSha);
          if (!there.has(run.externalId)) await create(headSha, run);
        }
      }
    },
  };
}

function cut(summary: string): string {
  if (summary.length <= longestSummary) return summary;
  const note = "\n\n… (cut here: too long for a check)";
  return summary.slice(0, longestSummary - note.length) + note;
}
