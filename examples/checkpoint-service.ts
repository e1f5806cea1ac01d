// A program that works through tasks in batches, dies in the middle, and goes on where it was.
// Run it with `npx tsx examples/checkpoint-service.ts`, or with Node 22.18 or later as it is.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCheckpointService, createFileStore, renderDiffText } from "crunch";

const folder = await mkdtemp(join(tmpdir(), "crunch-example-"));
const issue = 42;

// A store keeps the chains; a service makes their checkpoints. Checkpoints are files under `folder`.
const service = createCheckpointService({ store: createFileStore(folder), sessionId: "first" });

// A run has phases, and each phase has tasks, which may need one another.
const begun = await service.begin({
  issue,
  title: "Add a dark mode",
  body: "It is too bright.",
  phases: ["implementing", "docs"],
  tasks: {
    theme: { agent: "designer" },
    switch: { agent: "builder" },
    charts: { agent: "builder", dependsOn: ["theme"] },
    tests: { agent: "tester", dependsOn: ["charts", "switch"] },
  },
});
console.log(`begun: batch ${begun.execution_graph.current_batch} of ${begun.workflow_state.current_phase}`);

// Each step that is worth keeping is a checkpoint. Results go with it, stored once by their content.
const first = await service.create(
  issue,
  {
    trigger: "batch_complete",
    tasks: {
      theme: { summary: "Chose the colours", tokenUsage: { input: 4_000, output: 900 } },
      switch: { summary: "Added a switch" },
    },
  },
  { artifacts: [{ path: "theme.css", content: Buffer.from(":root { color-scheme: dark }\n") }] },
);
console.log(`stored: ${first.trigger}, next is ${first.recovery_info.resume_from}`);

// What can't have happened is refused, with the reason and what to do.
await service
  .create(issue, { trigger: "batch_complete", tasks: { tests: { summary: "All pass" } } })
  .catch((error: Error) => console.log(`refused: ${error.message}`));

await service.create(
  issue,
  { trigger: "batch_complete", tasks: { charts: { summary: "Charts follow the theme" } } },
  { notes: { builder: "- charts read CSS variables\n" } },
);

// Here the process dies. Another one knows nothing but the folder.
const other = createCheckpointService({ store: createFileStore(folder), sessionId: "second" });
const resumed = await other.resume(issue);
if (resumed.status !== "resumable") throw new Error("The chain tells why: see `resumed`.");
console.log(`resumed: attempt ${resumed.checkpoint.workflow_state.phase_attempt}, ${resumed.resumeFrom}`);
console.log(`to do: ${JSON.stringify(resumed.batches)}`);

await other.create(issue, { trigger: "batch_complete", tasks: { tests: { summary: "All pass" } } });
const done = await other.create(issue, { trigger: "phase_transition" });
console.log(`done: ${done.orchestrator_state.completed_phases.join(", ")}`);

// Any two checkpoints can be compared: as data, and as text or Markdown for people.
console.log(
  renderDiffText(await other.compare(issue, first.checkpoint_id, "latest"), { color: false, width: 100 }),
);

// Going back is a checkpoint too. It takes files and state back; undoing it is going back once more.
const back = await other.rollback(issue, begun.checkpoint_id);
console.log(`rolled back: removed ${back.removed.join(", ")}`);
const undone = await other.rollback(issue, back.undo);
console.log(`undone: restored ${undone.restored.join(", ")}`);

const entries = await other.listForRun(issue);
console.log(`chain: ${entries.map(({ trigger }) => trigger).join(" → ")}`);
await rm(folder, { recursive: true });
