import type { JsonObject } from "./json.js";

export interface RepositoryDispatch {
  readonly at: Date;
  readonly eventType: string;
  readonly clientPayload: JsonObject;
  readonly login: string | null;
}

export interface WorkflowDispatch {
  readonly at: Date;
  /** The file name or id the caller named. */
  readonly workflow: string;
  readonly ref: string;
  readonly inputs: JsonObject;
  readonly login: string | null;
}

export type RunnerStatus = "in_progress" | "completed";

export class DispatchRecords {
  readonly repository: RepositoryDispatch[] = [];
  readonly workflow: WorkflowDispatch[] = [];
  readonly runs = new Map<number, RunnerStatus>();
}
