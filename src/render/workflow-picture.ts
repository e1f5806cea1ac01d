import type { PhaseGraph } from "../workflow/graph.js";

/** What a picture needs to know of a workflow. */
export interface Pictured {
  readonly graph: PhaseGraph;
  readonly phases: Readonly<Record<string, { readonly type: string; readonly does?: string }>>;
}

/** The brackets that give each kind of phase its shape. */
const shapes: Readonly<Record<string, readonly [string, string]>> = {
  agent: ["[", "]"],
  tasks: ["[[", "]]"],
  human: ["{{", "}}"],
  consensus: ["{", "}"],
  terminal: ["([", "])"],
};

/** A workflow as a Mermaid picture. A dotted arrow is one that may be chosen. */
export function renderWorkflowPicture({ graph, phases }: Pictured): string {
  const names = Object.keys(graph.nodes);
  // The names of phases may be words of Mermaid's own, such as `end`.
  const ids = new Map(names.map((name, at) => [name, `p${at}`]));
  const boxes = names.map((name) => {
    const { type = "agent", does } = phases[name] ?? {};
    const [open, close] = shapes[type] ?? ["[", "]"];
    const text = does === undefined ? name : `${name}<br/>${escaped(does)}`;
    return `  ${ids.get(name)}${open}"${text}"${close}`;
  });
  const arrows = names.flatMap((name) => {
    const { kind, to } = graph.nodes[name] ?? { kind: "terminal", to: [] };
    return to.map((target) => `  ${ids.get(name)} ${kind === "choice" ? "-.->" : "-->"} ${ids.get(target)}`);
  });
  return ["flowchart TD", ...boxes, ...arrows].join("\n");
}

/** Text that can't end its label, nor be taken for HTML or a character's code. */
function escaped(text: string): string {
  return text.replace(/[#&"<>]/g, (character) => `#${character.charCodeAt(0)};`).replace(/\s+/g, " ");
}
