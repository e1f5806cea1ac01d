/** The phases of a workflow and where each leads, without what they do. */
export interface PhaseGraph {
  readonly first: string;
  readonly nodes: Readonly<Record<string, PhaseNode>>;
}

interface PhaseNode {
  /** `fixed`: to all of them. `choice`: to some of them. `any`: to any phase. */
  readonly kind: "fixed" | "choice" | "any" | "terminal";
  readonly to: readonly string[];
}

export interface GraphProblem {
  /** The phase at which it shows; null when it is about the whole. */
  readonly phase: string | null;
  readonly message: string;
}

/** What keeps a graph from being run, in words; empty when nothing does. */
export function graphProblems(graph: PhaseGraph): readonly GraphProblem[] {
  const { first, nodes } = graph;
  const names = Object.keys(nodes);
  const isThere = (name: string) => Object.hasOwn(nodes, name);
  if (!isThere(first))
    return [{ phase: null, message: `it begins with \`${first}\`, which is no phase of it` }];
  const unknown = names.flatMap((phase) =>
    (nodes[phase]?.to ?? [])
      .filter((to) => !isThere(to))
      .map((to) => ({ phase, message: `\`${phase}\` leads to \`${to}\`, which is no phase of it` })),
  );
  if (unknown.length > 0) return unknown;
  const problems: GraphProblem[] = [];
  for (const phase of names) {
    const node = nodes[phase];
    if (node?.kind !== "terminal" && node?.kind !== "any" && node?.to.length === 0)
      problems.push({ phase, message: `\`${phase}\` leads nowhere` });
  }
  if (!names.some((name) => nodes[name]?.kind === "terminal"))
    problems.push({ phase: null, message: "it has no terminal phase" });
  const reached = reachable(graph);
  for (const phase of names)
    if (!reached.has(phase)) problems.push({ phase, message: `nothing leads to \`${phase}\`` });
  const loop = endlessLoop(graph);
  if (loop) {
    const round = loop.map((name) => `\`${name}\``).join(" → ");
    problems.push({ phase: loop[0] ?? null, message: `${round} goes round for ever` });
  }
  return problems;
}

function reachable({ first, nodes }: PhaseGraph): ReadonlySet<string> {
  const reached = new Set([first]);
  for (const name of reached) {
    const node = nodes[name];
    for (const to of node?.kind === "any" ? Object.keys(nodes) : (node?.to ?? [])) reached.add(to);
  }
  return reached;
}

/** A way round on which no phase could choose to leave. */
function endlessLoop({ nodes }: PhaseGraph): readonly string[] | null {
  const done = new Set<string>();
  // By hand and not by calls: a line of thousands of phases is deeper than the stack.
  const path: { readonly name: string; readonly to: readonly string[]; at: number }[] = [];
  const onPath = new Set<string>();
  const enter = (name: string) => {
    if (done.has(name) || nodes[name]?.kind !== "fixed") return;
    path.push({ name, to: nodes[name]?.to ?? [], at: 0 });
    onPath.add(name);
  };
  for (const start of Object.keys(nodes)) {
    enter(start);
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const to = top.to[top.at++];
      if (to === undefined) {
        path.pop();
        onPath.delete(top.name);
        done.add(top.name);
      } else if (onPath.has(to)) {
        const names = path.map(({ name }) => name);
        return [...names.slice(names.indexOf(to)), to];
      } else enter(to);
    }
  }
  return null;
}

/** How the graph is gone through: what waits for what, and which edges lead back. */
export interface PhaseOrder {
  /** The phases, each after all that lead forward to it. */
  readonly names: readonly string[];
  /** The phases that lead forward to each. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  /** The phases that may lead anywhere. */
  readonly jumping: readonly string[];
  /** All that comes after each, forward. */
  after(name: string): readonly string[];
  isBack(from: string, to: string): boolean;
}

const orders = new WeakMap<PhaseGraph, PhaseOrder>();

export function orderOf(graph: PhaseGraph): PhaseOrder {
  const known = orders.get(graph);
  if (known) return known;
  const made = makeOrder(graph);
  orders.set(graph, made);
  return made;
}

/** An edge leads back when its target is on the way that led to its source: then nobody waits for it. */
function makeOrder({ first, nodes }: PhaseGraph): PhaseOrder {
  const back = new Set<string>();
  const finished: string[] = [];
  const seen = new Set<string>();
  const open = new Set<string>();
  // By hand and not by calls: a line of thousands of phases is deeper than the stack.
  const stack: { readonly name: string; readonly to: readonly string[]; at: number }[] = [];
  const enter = (name: string) => {
    seen.add(name);
    open.add(name);
    stack.push({ name, to: nodes[name]?.to ?? [], at: 0 });
  };
  for (const root of [first, ...Object.keys(nodes)]) {
    if (seen.has(root)) continue;
    enter(root);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      // From the last to the first: they come out in the order they were written in.
      const to = top.to[top.to.length - 1 - top.at++];
      if (to === undefined) {
        stack.pop();
        open.delete(top.name);
        finished.push(top.name);
        // The first phase waits for nobody, also where a plain function hides the way that leads from it.
      } else if (open.has(to) || to === first) back.add(`${top.name}\n${to}`);
      else if (!seen.has(to)) enter(to);
    }
  }
  const names = finished.reverse();
  const before = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const name of names)
    for (const to of nodes[name]?.to ?? []) if (!back.has(`${name}\n${to}`)) before.get(to)?.push(name);
  return {
    names,
    before,
    jumping: names.filter((name) => nodes[name]?.kind === "any"),
    isBack: (from, to) => back.has(`${from}\n${to}`),
    after(name) {
      const found = new Set<string>();
      const open = [name];
      for (let from = open.pop(); from !== undefined; from = open.pop())
        for (const to of nodes[from]?.to ?? [])
          if (!back.has(`${from}\n${to}`) && !found.has(to)) {
            found.add(to);
            open.push(to);
          }
      return names.filter((each) => found.has(each));
    },
  };
}
