import { z } from "zod";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import { createDrafter } from "./draft.js";
import type { Imported, ImportOptions, Layout, SourceFiles } from "./imported.js";
import { added, artifactOf, Name, storedArtifact } from "./outside.js";
import { draftOf } from "./progress-checkpoint.js";
import { notesOf } from "./progress-notes.js";
import { ProgressFile, type Task } from "./progress-schema.js";
import { readJson } from "./read-json.js";
import { attempt, importRefused, quoted } from "./refusal.js";

const file = /^(?:(?:.*\/)?checkpoints\/)?([^/]+?)(-complete)?\.json$/;

/** The progress files' layout: `progress/checkpoints/<agent>-<task>.json`, and `…-complete.json` for what is archived. */
export const progressJson: Layout = {
  name: "progress",
  marks: (path) => file.test(path) && !path.endsWith("index.json"),
  read: readProgress,
};

function readProgress(files: SourceFiles, options: ImportOptions): Imported {
  const problems: string[] = [];
  const tasks = [...files].flatMap(([path, bytes]) => {
    if (!progressJson.marks(path)) {
      problems.push(`${quoted(path)} was left out: it is no part of the layout`);
      return [];
    }
    return attempt(path, problems, () => readTask(path, bytes, options)) ?? [];
  });
  tasks.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || (a.path < b.path ? -1 : 1));

  const next = createDrafter(options, "unknown");
  const checkpoints: Checkpoint[] = [];
  const changes = new Map<string, readonly FileChange[]>();
  const standing = new Map<string, Task>();
  let notes: Checkpoint["notes"] = {};
  for (const task of tasks) {
    // The file of a task stands for all of it: a later one takes the place of an earlier one.
    standing.set(`${task.agent}-${task.id}`, task);
    const all = [...standing.values()];
    const own = all.filter(({ agent }) => agent === task.agent);
    const text = Buffer.from(notesOf(task.agent, own));
    const path = `notes/${task.agent}.md`;
    notes = { ...notes, [task.agent]: artifactOf(path, text) };
    const made = next({
      ...draftOf(all, task, problems),
      notes,
      metadata: {
        imported_from: { layout: "progress", file: task.path, id: task.file.checkpoint_id ?? null },
        imported: task.original,
      },
    });
    checkpoints.push(made);
    changes.set(made.checkpoint_id, [added(path, text), storedArtifact(text)]);
  }
  return { checkpoints, files: changes, problems };
}

function readTask(path: string, bytes: Buffer, { maker }: ImportOptions): Task {
  const content = readJson(ProgressFile, bytes);
  const base = file.exec(path)?.[1] ?? "";
  const split = base.lastIndexOf("-");
  const agent = content.agent ?? base.slice(0, Math.max(0, split));
  const id = content.task_id ?? base.slice(split + 1);
  for (const name of [agent, id]) {
    if (Name.safeParse(name).success) continue;
    const message = `Its name gives no agent and task (${quoted(base)}), and neither does its content.`;
    throw importRefused(message, "Name the file <agent>-<task>.json, or put `agent` and `task_id` into it.");
  }
  const at = content.updated_at ?? content.completed_at ?? content.started_at ?? maker.now().toISOString();
  return { path, agent, id, at, file: content, original: readJson(z.json(), bytes) };
}
