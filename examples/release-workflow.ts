// A workflow in TypeScript: it checks every package, asks a person, and publishes what was approved.
// Kill it wherever you like: the next start goes on from the last checkpoint.
import { agentPhase, createFileStore, defineWorkflow, humanPhase, runWorkflow, terminalPhase } from "crunch";

interface Release extends Record<string, unknown> {
  packages: string[];
  checked: string[];
  approved: boolean;
  published: string[];
}

/** What your own code would do. */
export interface Tools {
  check(name: string): Promise<void>;
  publish(name: string): Promise<void>;
}

export function releaseWorkflow(packages: readonly string[], tools: Tools) {
  const initial: Release = { packages: [...packages], checked: [], approved: false, published: [] };
  return defineWorkflow(initial)({
    name: "release",
    first: "check",
    phases: {
      check: agentPhase({
        does: "checks every package, four at a time",
        forEach: (state) => state.packages,
        parallel: 4,
        run: async ({ item }) => {
          await tools.check(item);
          return item;
        },
        update: (name, draft) => void draft.checked.push(name),
        // A registry that is busy is asked again after 1, 2 and 4 seconds; packages that passed are not.
        onError: { strategy: "retry", maxRetries: 3, backoff: "exponential", delayMs: 1_000 },
        next: "approve",
      }),
      approve: humanPhase({
        human: ({ checked }) => ({ type: "approval", prompt: `Publish ${checked.join(", ")}?` }),
        onResponse: (response, draft) => {
          draft.approved = response === "approve";
        },
        next: { to: ["publish", "done"], choose: (state) => (state.approved ? "publish" : "done") },
      }),
      publish: agentPhase({
        does: "publishes one package after the other",
        run: async ({ state }) => {
          const name = state.packages[state.published.length] ?? "";
          await tools.publish(name);
          return name;
        },
        update: (name, draft) => void draft.published.push(name),
        until: { done: (state) => state.published.length === state.packages.length, most: 100 },
        onError: { strategy: "pause" },
        next: "done",
      }),
      done: terminalPhase(),
    },
  });
}

/** Begins the release, or goes on with it. */
export async function release(folder: string, packages: readonly string[], tools: Tools) {
  const workflow = releaseWorkflow(packages, tools);
  return runWorkflow(workflow, { store: createFileStore(folder), issue: 1, title: "Release" });
}
