import type { Checkpoint, GateResult, PhaseState } from "../checkpoint/schema.js";
import type { Standing } from "../engine/standing.js";
import { fenced, plain, shortened } from "../markdown.js";
import { endOf } from "../whole-characters.js";
import { phasesInOrder, type Workflow } from "../workflow/workflow.js";
import { moment } from "./moment.js";
import { renderQuestions } from "./questions.js";
import { whatNext } from "./what-next.js";
import { renderWorkflowPicture } from "./workflow-picture.js";

export interface StatusView {
  readonly checkpoint: Checkpoint;
  readonly workflow: Workflow;
  readonly standing: Standing;
  /** Where the checkpoint can be looked at. */
  readonly checkpointUrl: string;
  readonly pullRequest: number | null;
  readonly isLabelRemoved: boolean;
  /** The code branch was moved by somebody else, so the agent's commit is not on it. */
  readonly hasDiverged: boolean;
  /** False when the token may not write checks. */
  readonly areChecksShown: boolean;
  /** Whether the reader sees pictures; a terminal shows none. */
  readonly isPictured: boolean;
  /** What could not be shown, and what to do about it. */
  readonly remarks: readonly string[];
}

const marks = {
  succeeded: "✅",
  failed: "❌",
  running: "⏳",
  waiting: "✋",
  skipped: "➖",
  pending: "▫️",
} as const;

const gateMarks = { passed: "✅", failed: "❌", skipped: "➖" } as const;

/** A larger graph can't be read in a comment, and would take the room of the rest. */
const mostPictured = 40;

/** Where the work stands, as Markdown: the sticky comment, the reply to `/crunch status`, the job's summary. */
export function renderStatus(view: StatusView): string {
  const { checkpoint } = view;
  const id = checkpoint.checkpoint_id;
  const link = `[\`${id}\`](${view.checkpointUrl})`;
  return [
    `### ${headline(view)}`,
    phaseTable(view),
    picture(view),
    renderQuestions(checkpoint),
    failureText(checkpoint),
    gateList(checkpoint.governance_results.quality_gates),
    view.areChecksShown ? "" : "The gates are not shown as checks: that takes a token with `checks: write`.",
    ...view.remarks,
    `**Checkpoint:** ${link}${view.pullRequest === null ? "" : ` · **Pull request:** #${view.pullRequest}`}`,
    `**What next:** ${whatNext(view)}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** floor(100 × completed / total): 100 only when every phase has ended. */
export function progressPercent(workflow: Workflow, checkpoint: Checkpoint): number {
  const steps = phasesInOrder(workflow).filter((phase) => phase.type !== "terminal");
  const ended = steps.filter(({ name }) => {
    const status = checkpoint.orchestrator_state.phases[name]?.status;
    return status === "succeeded" || status === "skipped";
  });
  return Math.floor((100 * ended.length) / steps.length);
}

function headline({ standing, workflow, checkpoint, isLabelRemoved }: StatusView): string {
  const percent = `${progressPercent(workflow, checkpoint)} %`;
  if (isLabelRemoved && standing.kind !== "finished")
    return `⏸️ Crunch stopped before \`${standing.phase}\` · ${percent}`;
  const stop = stopText(checkpoint);
  if (stop !== null) return `${stop} · ${percent}`;
  switch (standing.kind) {
    case "running":
      return `⏳ Crunch is working on \`${standing.phase}\` · ${percent}`;
    case "next":
      return `⏳ Crunch goes on with \`${standing.phase}\` · ${percent}`;
    case "waiting_for_label":
      return `✋ \`${standing.done}\` is done, \`${standing.phase}\` waits for its label · ${percent}`;
    case "waiting_for_person":
      return `✋ \`${standing.phase}\` waits for your ${standing.next === null ? "answer" : "approval"} · ${percent}`;
    case "retrying":
      return `🔁 \`${standing.phase}\` failed and is tried again · ${percent}`;
    case "failed":
      return `❌ \`${standing.phase}\` failed · ${percent}`;
    case "finished":
      return `✅ Crunch is done · ${percent}`;
  }
}

/** Why nothing goes on although a phase could; null when that is not so. */
function stopText({ pause, outcome, workflow_state: { current_phase: phase } }: Checkpoint): string | null {
  if (pause?.kind === "stale") return `✋ Crunch waits before \`${phase}\`: the issue has changed`;
  if (pause?.kind === "rollback") return `↩️ Rolled back, \`${phase}\` is next`;
  return outcome === "interrupted" ? `⏸️ Crunch was stopped in \`${phase}\`` : null;
}

/** The phases as people see them: what begins at once is at work as long as this is what they see. */
function phasesShown({
  checkpoint,
  standing,
  isLabelRemoved,
}: StatusView): Readonly<Record<string, PhaseState>> {
  const { phases } = checkpoint.orchestrator_state;
  const state = phases[standing.phase];
  const isHeld = isLabelRemoved || checkpoint.pause !== null || checkpoint.outcome === "interrupted";
  if (standing.kind !== "next" || isHeld || !state) return phases;
  return { ...phases, [standing.phase]: { ...state, status: "running" } };
}

function phaseTable(view: StatusView): string {
  const { workflow, checkpoint } = view;
  const phases = phasesShown(view);
  const outputs = Object.values(checkpoint.agent_outputs);
  const rows = phasesInOrder(workflow)
    .filter((phase) => phase.type !== "terminal")
    .map(({ name }) => {
      const state = phases[name];
      const status = state?.status ?? "pending";
      const summary =
        outputs.map((tasks) => tasks[name]?.output_summary).find((text) => text !== undefined) ?? "";
      const said = summary === "" ? taskSummary(checkpoint, name) : summary;
      return `| ${marks[status]} | \`${name}\` | ${statusText(state)} | ${plain(shortened(said, 300))} |`;
    });
  return ["| | phase | status | what was done |", "|---|---|---|---|", ...rows].join("\n");
}

function statusText(state: PhaseState | undefined): string {
  if (!state) return "pending";
  const { status, attempt, retries, retry_at } = state;
  if (status === "pending" && retry_at !== undefined) return `failed, next try ${moment(retry_at)}`;
  const tries = [
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(retries !== undefined && retries > 0 ? [`${retries}. retry`] : []),
  ];
  return tries.length === 0 ? status : `${status} (${tries.join(", ")})`;
}

/** How far a phase with several tasks is. */
function taskSummary({ execution_graph, agent_outputs }: Checkpoint, phase: string): string {
  const prefix = `${phase}/`;
  const nodes = Object.entries(execution_graph.node_states).filter(([key]) => key.startsWith(prefix));
  if (nodes.length < 2) return "";
  const done = nodes.filter(([, { status }]) => status === "complete").length;
  const said = Object.values(agent_outputs)
    .flatMap((outputs) => Object.entries(outputs))
    .filter(([label]) => label.startsWith(prefix))
    .map(([label, { output_summary }]) => `${label.slice(prefix.length)}: ${output_summary}`);
  return [`${done} of ${nodes.length} tasks`, ...said].join("; ");
}

/** A line of phases is seen in the table; where several go on at the same time, a picture tells more. */
function picture(view: StatusView): string {
  const { workflow } = view;
  const nodes = Object.values(workflow.graph.nodes);
  const isLine = nodes.every(({ to }) => to.length <= 1);
  if (isLine || nodes.length > mostPictured || !view.isPictured) return "";
  const statuses = Object.entries(phasesShown(view)).map(([name, { status }]) => [name, status] as const);
  const drawn = fenced(renderWorkflowPicture(workflow, Object.fromEntries(statuses)), "mermaid");
  return `<details open><summary>The graph</summary>\n\n${drawn}\n</details>`;
}

function failureText({ error, metadata }: Checkpoint): string {
  if (!error) return "";
  const tail = typeof metadata.output_tail === "string" ? metadata.output_tail.trim() : "";
  const output =
    tail === ""
      ? ""
      : `\n\n<details><summary>The end of what it printed</summary>\n\n${fenced(tail)}\n</details>`;
  return `**Why:** ${plain(error.message)}${output}`;
}

function gateList(gates: readonly GateResult[]): string {
  if (gates.length === 0) return "";
  const lines = gates.map(
    (gate) => `- ${gateMarks[gate.status]} **${plain(gate.name)}**: ${plain(gate.summary)}`,
  );
  const details = gates.filter(({ status }) => status === "failed").flatMap(whatItPrinted);
  return [`**Gates**\n${lines.join("\n")}`, ...details].join("\n\n");
}

/** The end of what a failed gate's command printed; its check has the rest. */
function whatItPrinted({ name, details }: GateResult): string[] {
  const printed = /^(`{3,})text\n([\s\S]*)\n\1$/m.exec(details)?.[2];
  if (printed === undefined) return [];
  const shown = fenced(endOf(printed, 2_000));
  return [`<details><summary>What ${plain(name)} printed</summary>\n\n${shown}\n</details>`];
}
