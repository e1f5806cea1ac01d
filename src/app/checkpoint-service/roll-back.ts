import { rollbackPlan } from "../../checkpoint/moments/go-back.js";
import { changeFor } from "../../checkpoint/moments/index.js";
import type { RollbackPlan } from "../../checkpoint/rollback.js";
import type { Artifact, Checkpoint } from "../../checkpoint/schema.js";
import { rollbackFiles } from "../rollback-files.js";
import { add, type ServiceContext } from "./context.js";
import { load } from "./read.js";

export interface RolledBack {
  readonly checkpoint: Checkpoint;
  /** Files of the issue's folder that have their old content again, and those that are gone. */
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  /** What is no longer live; its content is still there by its hash. */
  readonly archived: readonly Artifact[];
  /** The commit whose files the code has to have again, which is left to the caller; null when it can stay. */
  readonly codeTreeOf: string | null;
  /** Rolling back to this one undoes it. */
  readonly undo: string;
}

/** Puts the run's state and the files of its folder back to a checkpoint, as one more checkpoint. */
export async function rollBack(context: ServiceContext, issue: number, id: string): Promise<RolledBack> {
  let done: Omit<RolledBack, "checkpoint"> | null = null;
  const checkpoint = await add(context, issue, async (latest) => {
    // Looked for each time: another writer's retention may have taken it away.
    const target = await load(context.store, issue, id);
    const { layout } = context;
    const plan = rollbackPlan(latest, target, undefined, layout);
    done = { ...outcomeOf(plan), undo: latest.checkpoint_id };
    return {
      parent: target.checkpoint_id,
      change: changeFor(latest, { trigger: "rollback", target, layout }, context.maker.now().toISOString()),
      options: { files: await rollbackFiles(context.store, issue, plan) },
    };
  });
  return { checkpoint, ...(done ?? { ...nothing, undo: checkpoint.checkpoint_id }) };
}

const nothing = { restored: [], removed: [], archived: [], codeTreeOf: null };

export function outcomeOf({ restore, remove, archived, codeTreeOf }: RollbackPlan) {
  return { restored: restore.map(({ path }) => path), removed: remove, archived, codeTreeOf };
}
