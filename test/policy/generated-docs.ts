import { renderWorkflowPicture } from "../../src/render/workflow-picture.js";
import { type PresetOptions, type ProjectType, presets } from "../../src/workflow/presets/index.js";
import { phaseUse, projectTypes } from "../../src/workflow/presets/project-types.js";
import type { NotesGateShape, PhaseShape, WorkflowShape } from "../../src/workflow/shape.js";
import { graphOfShape } from "../../src/workflow/shape-graph.js";

const plain: PresetOptions = { approval: "none", projectType: null, include: [] };
const makers: Readonly<Record<string, (options: PresetOptions) => WorkflowShape>> = presets;

/** A page with all that stands between `<!-- generated: … -->` and `<!-- /generated -->` made anew. */
export function regenerated(page: string): string {
  return page.replace(
    /(<!-- generated: (\w+) ([\w-]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g,
    (_, begin: string, what: string, preset: string, end: string) =>
      `${begin}\n${made(what, preset)}\n\n${end}`,
  );
}

function made(what: string, preset: string): string {
  const make = Object.hasOwn(makers, preset) ? makers[preset] : undefined;
  if (!make) throw new Error(`there is no preset ${preset}`);
  const shape = make(plain);
  switch (what) {
    case "picture":
      return pictureOf(shape);
    case "phases":
      return phasesOf(shape);
    case "projects":
      return projectsOf(shape);
    case "checks":
      return checksOf(shape);
    default:
      throw new Error(`nothing generates ${what}`);
  }
}

function pictureOf(shape: WorkflowShape): string {
  const picture = renderWorkflowPicture({ graph: graphOfShape(shape), phases: shape.phases });
  return `\`\`\`mermaid\n${picture}\n\`\`\``;
}

function phasesOf({ phases }: WorkflowShape): string {
  const rows = Object.entries(phases).map(([name, phase]) => [code(name), phase.type, what(phase)]);
  return table(["phase", "kind", "what it does"], rows);
}

function what(phase: PhaseShape): string {
  if (phase.type === "terminal") return phase.does ?? "the end";
  if (phase.type === "tasks") return `${phase.does}: ${codes(Object.keys(phase.tasks))}`;
  if (phase.type !== "consensus") return phase.does;
  const { veto = [] } = phase;
  const voters = Object.keys(phase.voters).map((name) => {
    const hasVeto = veto === "anybody" || veto.includes(name);
    return `${code(name)}${hasVeto ? " (veto)" : ""}`;
  });
  const back = phase.otherwise === undefined ? "" : `; without a consensus back to ${code(phase.otherwise)}`;
  return `${phase.does}: ${voters.join(", ")}${back}`;
}

function projectsOf({ phases }: WorkflowShape): string {
  const names = Object.keys(phases);
  const row = (label: string, type: ProjectType | null) => [
    label,
    ...names.map((name) => phaseUse(name, type)),
  ];
  const types = Object.keys(projectTypes).filter((type): type is ProjectType =>
    Object.hasOwn(projectTypes, type),
  );
  return table(
    ["project type", ...names.map(code)],
    [row("none", null), ...types.map((type) => row(code(type), type))],
  );
}

function checksOf({ phases }: WorkflowShape): string {
  const rows = Object.entries(phases).flatMap(([name, phase]) => {
    if (phase.type === "terminal") return [];
    const gates = "gates" in phase ? (phase.gates ?? []) : [];
    if (gates.length === 0) return [[code(name), "nobody", "nothing"]];
    return gates.map((gate) => [code(name), codes(gate.roles), wanted(gate)]);
  });
  return table(["at the end of", "the notes of", "need"], rows);
}

function wanted({ sections, step }: NotesGateShape): string {
  const parts = [
    ...sections.map((section) => `something under "${section}"`),
    ...(step === undefined ? [] : [`\`Step completed: ${step}\` under "Status"`]),
  ];
  return parts.join(", and ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(names: readonly string[]): string {
  return names.map(code).join(", ");
}
