import colors from "picocolors";
import type { Chain } from "../../checkpoint/invariants.js";
import { duration } from "../../render/duration.js";

export interface SummaryOptions {
  readonly chain: Chain;
  readonly problems: readonly string[];
  readonly requests: number;
  readonly issueUrl: string;
  readonly branchUrl: string;
  readonly pullRequestUrl: string | null;
}

/** What the run came to: a line for each phase, and where to look. */
export function summaryTable(options: SummaryOptions): string {
  const { chain, problems } = options;
  const phases = Object.entries(chain.latest?.orchestrator_state.phases ?? {});
  const rows = phases.map(([name, state]) => {
    const own = [...chain.checkpoints.values()].filter((each) => each.workflow_state.current_phase === name);
    const time = own.reduce((sum, each) => sum + (each.trigger === "manual" ? 0 : each.duration_ms), 0);
    const gates = chain.latest?.governance_results.quality_gates.filter((gate) => gate.phase === name) ?? [];
    return [
      name,
      state.status,
      state.attempt > 1 ? String(state.attempt) : "",
      time > 0 ? duration(time) : "",
      own.length > 0 ? String(own.length) : "",
      gates.map((gate) => `${gate.name} ${gate.status}`).join(", "),
    ];
  });
  const verdict =
    problems.length === 0
      ? colors.green(`${chain.checkpoints.size} checkpoints, every parent and hash verified`)
      : colors.red(`${chain.checkpoints.size} checkpoints; ${problems.join("; ")}`);
  return [
    ...table([["phase", "status", "attempts", "time", "checkpoints", "gates"], ...rows]),
    "",
    `  chain         ${verdict}`,
    `  requests      ${options.requests} to GitHub, all told`,
    `  issue         ${options.issueUrl}`,
    `  pull request  ${options.pullRequestUrl ?? "none"}`,
    `  checkpoints   ${options.branchUrl}`,
  ].join("\n");
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd();
  const [head = [], ...body] = rows;
  return [
    colors.bold(line(head)),
    `  ${widths.map((width) => "─".repeat(width)).join("  ")}`,
    ...body.map(line),
  ];
}

/** After a kill: which phases were not touched again, and which had to be done once more. */
export function keptAndDoneAgain({ latest }: Chain): string {
  const phases = Object.entries(latest?.orchestrator_state.phases ?? {}).filter(([name]) => name !== "done");
  const again = phases
    .filter(([, { attempt }]) => attempt > 1)
    .map(([name, { attempt }]) => `${name} (attempt ${attempt})`);
  const kept = phases.filter(([, { attempt }]) => attempt <= 1).map(([name]) => name);
  const none = "nothing";
  return [
    `  done again    ${colors.yellow(again.join(", ") || none)}`,
    `  done once     ${colors.green(kept.join(", ") || none)}`,
  ].join("\n");
}
