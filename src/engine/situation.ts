import type { Freshness } from "../checkpoint/freshness.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { Issue, Permission } from "../ports.js";
import type { Workflow } from "../workflow/workflow.js";
import type { Obstacle } from "./decision.js";
import type { CrunchEvent } from "./events.js";
import { type Phases, pendingPhases, type Standing, standingOf } from "./standing.js";

/** All that a decision depends on, and nothing that has to be fetched. */
export interface Situation {
  readonly event: CrunchEvent | { readonly kind: "continue"; readonly issue: number; readonly key: string };
  readonly issue: Issue;
  readonly latest: Checkpoint | null;
  readonly workflow: Workflow;
  readonly advance: "auto" | "manual";
  readonly maxAttempts: number;
  readonly hasAgent: (phase: string) => boolean;
  /** What the event's actor may do in the repo. */
  readonly permission: Permission;
  /** Whether another session, not proven dead, holds the run. */
  readonly isHeld: boolean;
  /** Why nothing can run in this repo as it is configured. */
  readonly obstacle: Obstacle | null;
  /** How the world has changed since the latest checkpoint; null when there is none. */
  readonly freshness: Freshness | null;
  /** Whether a person was asked about just these changes before. */
  readonly isAsked: boolean;
  readonly now: Date;
  /** The phase of a state label that somebody with write access put there while nobody listened. */
  readonly movedTo: string | null;
}

export function phasesOf({ latest, workflow }: Situation): Phases {
  // A workflow may have phases that a run begun before them does not know.
  return { ...pendingPhases(workflow), ...latest?.orchestrator_state.phases };
}

export function currentStanding(situation: Situation): Standing {
  return standingOf(situation.workflow, phasesOf(situation), situation.advance);
}
