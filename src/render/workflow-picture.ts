import type { PhaseStatus } from "../checkpoint/schema.js";
import type { PhaseGraph } from "../workflow/graph.js";

/** What a picture needs to know of a workflow. */
export interface Pictured {
  readonly graph: PhaseGraph;
  readonly phases: Readonly<
    Record<string, { readonly type: string; readonly does?: string; readonly skip?: string }>
  >;
}

/** The brackets that give each kind of phase its shape. */
const shapes: Readonly<Record<string, readonly [string, string]>> = {
  agent: ["[", "]"],
  tasks: ["[[", "]]"],
  human: ["{{", "}}"],
  consensus: ["{", "}"],
  terminal: ["([", "])"],
};

/** Readable whether the page is light or dark: a full colour has that of its text with it, the others let it through. */
const looks: Readonly<Record<PhaseStatus, { readonly mark: string; readonly style: string }>> = {
  succeeded: { mark: "✅", style: "fill:#1a7f37,stroke:#1a7f37,color:#fff" },
  running: { mark: "⏳", style: "fill:#0969da,stroke:#0969da,color:#fff" },
  waiting: { mark: "✋", style: "fill:#9a6700,stroke:#9a6700,color:#fff" },
  skipped: { mark: "➖", style: "fill:transparent,stroke:#818b98,stroke-dasharray:5 5" },
  failed: { mark: "❌", style: "fill:#cf222e,stroke:#cf222e,color:#fff" },
  pending: { mark: "▫️", style: "fill:#818b9833,stroke:#818b98" },
};

/**
 * A workflow as a Mermaid picture. A dotted arrow is one that may be chosen, a dashed box a phase that is left out.
 * With statuses it shows where a run stands, and not what the phases do: it is then part of a comment.
 */
export function renderWorkflowPicture(
  { graph, phases }: Pictured,
  statuses?: Readonly<Record<string, PhaseStatus>>,
): string {
  const names = Object.keys(graph.nodes);
  // The names of phases may be words of Mermaid's own, such as `end`.
  const ids = new Map(names.map((name, at) => [name, `p${at}`]));
  const byLook = new Map<PhaseStatus, string[]>();
  const boxes = names.map((name) => {
    const { type = "agent", does, skip } = phases[name] ?? {};
    const [open, close] = shapes[type] ?? ["[", "]"];
    const status = statuses && (Object.hasOwn(statuses, name) ? statuses[name] : "pending");
    const look = status ?? (skip === undefined ? null : "skipped");
    if (look) byLook.set(look, [...(byLook.get(look) ?? []), ids.get(name) ?? ""]);
    const below = does === undefined || status ? "" : `<br/>${escaped(does)}`;
    const text = `${status ? `${looks[status].mark} ` : ""}${name}${below}`;
    return `  ${ids.get(name)}${open}"${text}"${close}`;
  });
  const arrows = names.flatMap((name) => {
    const { kind, to } = graph.nodes[name] ?? { kind: "terminal", to: [] };
    return to.map((target) => `  ${ids.get(name)} ${kind === "choice" ? "-.->" : "-->"} ${ids.get(target)}`);
  });
  const classes = [...byLook].flatMap(([look, members]) => [
    `  classDef ${look} ${looks[look].style}`,
    `  class ${members.join(",")} ${look}`,
  ]);
  return ["flowchart TD", ...boxes, ...arrows, ...classes].join("\n");
}

/** Text that can't end its label, nor be taken for HTML or a character's code. */
function escaped(text: string): string {
  return text.replace(/[#&"<>]/g, (character) => `#${character.charCodeAt(0)};`).replace(/\s+/g, " ");
}
