import { z } from "zod";
import { createLayout, defaultLocation } from "../checkpoint/layout.js";
import { defaultRetention, type RetentionPolicy } from "../checkpoint/retention.js";
import { Trigger } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import { BranchTemplate } from "./fields.js";
import { describe } from "./plain-english.js";
import { type Parsed, parseConfigFile } from "./problems.js";

const megabyte = 1024 * 1024;

const Kept = z.number().int().min(-1).max(1_000_000);

/** How many of each kind are kept in each phase; -1 keeps all, 0 none but the latest. */
const Retention = z.strictObject(
  Object.fromEntries(
    Trigger.options.map((trigger) => [trigger, Kept.default(defaultRetention[trigger])]),
  ) as {
    readonly [Name in Trigger]: z.ZodDefault<typeof Kept>;
  },
);

const Location = z
  .string()
  .max(200)
  .superRefine((location, context) => {
    try {
      createLayout(location);
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
      context.addIssue({ code: "custom", message: `${error.message} ${error.hint}` });
    }
  });

const Storage = z.strictObject({
  location: Location.default(defaultLocation),
  compress: z.boolean().default(false),
  max_size_mb: z.number().positive().max(100).default(50),
  branch: BranchTemplate.default("crunch/issue-{issue}"),
});

const Triggers = z.strictObject({
  phase_transition: z.boolean().default(true),
  batch_complete: z.boolean().default(true),
  agent_complete: z.boolean().default(false),
  conflict_events: z.boolean().default(true),
  every_n_events: z
    .union([z.literal(false), z.number().int().min(1)], {
      error: ({ input }) => `expected a number or false, found ${describe(input)}.`,
    })
    .default(1000),
});

/** How checkpoints are made and kept. */
export const CheckpointConfig = z
  .strictObject({
    enabled: z.boolean().default(true),
    auto_checkpoint: z.boolean().default(true),
    checkpoint_triggers: Triggers.prefault({}),
    retention: Retention.prefault({}),
    storage: Storage.prefault({}),
  })
  .transform(({ enabled, auto_checkpoint: auto, checkpoint_triggers: triggers, retention, storage }) => ({
    enabled,
    triggers: {
      batchComplete: auto && triggers.batch_complete,
      agentComplete: auto && triggers.agent_complete,
      conflictEvents: auto && triggers.conflict_events,
      everyEvents: auto && triggers.every_n_events !== false ? triggers.every_n_events : null,
    },
    // A run can't do without the end of a phase; turned off, it is kept only until the next checkpoint is there.
    retention: (triggers.phase_transition
      ? retention
      : { ...retention, phase_transition: 0 }) satisfies RetentionPolicy,
    storage: {
      location: storage.location,
      compress: storage.compress,
      maxBytes: Math.floor(storage.max_size_mb * megabyte),
      branch: storage.branch,
    },
  }));
export type CheckpointConfig = z.infer<typeof CheckpointConfig>;

export const defaultCheckpointConfig: CheckpointConfig = CheckpointConfig.parse({});

const CheckpointFile = z.strictObject({ checkpoint: CheckpointConfig.prefault({}) });

/** The file of its own, `.claude/checkpoint-config.yaml`. */
export function parseCheckpointConfig(
  text: string,
  file: string,
): Parsed<{ readonly checkpoint: CheckpointConfig }> {
  return parseConfigFile({ text, file, schema: CheckpointFile });
}
