import { randomUUID } from "node:crypto";
import type { CheckpointDiff } from "../checkpoint/diff.js";
import type { IndexEntry } from "../checkpoint/index-entry.js";
import { defaultLayout, type Layout } from "../checkpoint/layout.js";
import { changeFor } from "../checkpoint/moments/index.js";
import type { Moment } from "../checkpoint/moments/moment.js";
import { defaultRetention, type RetentionPolicy } from "../checkpoint/retention.js";
import type { Checkpoint, Trigger } from "../checkpoint/schema.js";
import { randomHex } from "../engine/session.js";
import type { CheckpointStore, Clock } from "../ports.js";
import { type BeginOptions, begin } from "./checkpoint-service/begin.js";
import { add, type ServiceContext } from "./checkpoint-service/context.js";
import { type Extra, withFiles } from "./checkpoint-service/files.js";
import { listForRun, load } from "./checkpoint-service/read.js";
import { resume } from "./checkpoint-service/resume.js";
import type { ResumeOptions, Resumption } from "./checkpoint-service/resumption.js";
import { type RolledBack, rollBack } from "./checkpoint-service/roll-back.js";
import { compareWithNotes } from "./compare.js";

export interface CheckpointServiceOptions {
  readonly store: CheckpointStore;
  /** Where the store keeps its files, if not where it does by default. */
  readonly layout?: Layout;
  /** How many checkpoints of each trigger are kept in each phase; the defaults hold for the others. */
  readonly retention?: Partial<RetentionPolicy>;
  readonly clock?: Clock;
  /** Who makes the checkpoints: a name of this process. */
  readonly sessionId?: string;
}

/** Makes the steps of a long work durable, without the rest of Crunch. */
export interface CheckpointService {
  /** Begins a run: its first phase is running then. */
  begin(options: BeginOptions, extra?: Extra): Promise<Checkpoint>;
  /** Saves that something has happened. Refused when it can't have, after what is saved already. */
  create(issue: number, moment: Moment<Exclude<Trigger, "rollback">>, extra?: Extra): Promise<Checkpoint>;
  /** A checkpoint by its id, or the "latest"; its integrity is verified. */
  load(issue: number, id: string): Promise<Checkpoint>;
  /** The checkpoints of a run in order, without those that retention took away; by default of the latest run. */
  listForRun(issue: number, runId?: string): Promise<readonly IndexEntry[]>;
  compare(issue: number, a: string, b: string): Promise<CheckpointDiff>;
  /** Puts the run back to a checkpoint. Nothing runs: `resume` goes on from there. */
  rollback(issue: number, id: string): Promise<RolledBack>;
  resume(issue: number, options?: ResumeOptions): Promise<Resumption>;
}

export function createCheckpointService(options: CheckpointServiceOptions): CheckpointService {
  const { store, clock, sessionId = `session-${randomUUID()}` } = options;
  const now = () => clock?.now() ?? new Date();
  const context: ServiceContext = {
    store,
    layout: options.layout ?? defaultLayout,
    retention: { ...defaultRetention, ...options.retention },
    maker: { now, randomHex, sessionId },
  };
  return {
    begin: (options, extra = {}) => begin(context, options, extra),
    async create(issue, moment, extra = {}) {
      return add(context, issue, async (latest) => {
        const { moment: told, files } = await withFiles(context, issue, moment, extra);
        const change = changeFor(latest, told, now().toISOString());
        return { change, options: { files, codeCommit: extra.codeCommit ?? null } };
      });
    },
    load: (issue, id) => load(store, issue, id),
    listForRun: (issue, runId) => listForRun(store, issue, runId),
    async compare(issue, a, b) {
      return compareWithNotes(store, await load(store, issue, a), await load(store, issue, b));
    },
    rollback: (issue, id) => rollBack(context, issue, id),
    resume: (issue, options = {}) => resume(context, issue, options),
  };
}
