import { z } from "zod";
import { Count, Name, Text, Time } from "./outside.js";

const Json = z.json();

const Subtask = z
  .object({ id: Text.min(1).max(200), status: Text, output: Text.nullable().default(null) })
  .catchall(Json);

const TaskError = z
  .object({ type: Text.default("error"), message: Text, blocking: z.boolean().default(false) })
  .catchall(Json);

/** The progress of one task. Agents wrote these files a part at a time, so that little of it is certain to be there. */
export const ProgressFile = z
  .object({
    checkpoint_id: Text.optional(),
    agent: Name.optional(),
    task_id: Name.optional(),
    task_title: Text.optional(),
    status: z.enum(["pending", "not_started", "in_progress", "blocked", "complete", "failed"]),
    progress_percent: z.number().min(0).max(100).nullable().default(null),
    started_at: Time.nullish(),
    updated_at: Time.nullish(),
    completed_at: Time.nullish(),
    subtasks: z
      .object({ total: Count.optional(), completed: Count.optional(), items: z.array(Subtask).default([]) })
      .catchall(Json)
      .default({ items: [] }),
    files_created: z.array(Text).default([]),
    files_modified: z.array(Text).default([]),
    acceptance_criteria_met: z.record(Text, z.boolean()).default({}),
    review_scores: z.record(Text, z.number().nullable()).default({}),
    errors: z.array(TaskError).default([]),
    context: z.record(Text, Json).default({}),
    resumable: z.boolean().default(true),
    resume_instructions: Text.nullable().default(null),
  })
  .catchall(Json);
export type ProgressFile = z.infer<typeof ProgressFile>;

/** One task of one agent, as a file of it stood at some time. */
export interface Task {
  readonly path: string;
  readonly agent: string;
  readonly id: string;
  readonly at: string;
  readonly file: ProgressFile;
  /** The file as it was, which nothing is taken from. */
  readonly original: z.infer<typeof Json>;
}

/** The progress files: `complete` with criteria that are not met is not complete. */
export function isComplete({ file }: Task): boolean {
  return file.status === "complete" && Object.values(file.acceptance_criteria_met).every((isMet) => isMet);
}
