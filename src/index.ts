/** What a program that imports this package may use. docs/library.md describes it. */
export { createFileStore, type FileStoreOptions } from "./adapters/fs/checkpoint-store.js";
export { createMemoryStore, type MemoryChains } from "./adapters/memory/checkpoint-store.js";
export type { BeginOptions } from "./app/checkpoint-service/begin.js";
export type { Extra } from "./app/checkpoint-service/files.js";
export type { Reason, Resumable, ResumeOptions, Resumption } from "./app/checkpoint-service/resumption.js";
export type { RolledBack } from "./app/checkpoint-service/roll-back.js";
export {
  type CheckpointService,
  type CheckpointServiceOptions,
  createCheckpointService,
} from "./app/checkpoint-service.js";
export { type Verified, verifyChain } from "./app/verify-chain.js";
export { decodeCheckpoint, encodeCheckpoint } from "./checkpoint/codec.js";
export { type CheckpointDiff, compareCheckpoints } from "./checkpoint/diff.js";
export { blockedTasks, pendingBatches } from "./checkpoint/execution-graph.js";
export { assessFreshness, type Freshness, type StaleKind, type World } from "./checkpoint/freshness.js";
export type { IndexEntry } from "./checkpoint/index-entry.js";
export type { Findings, Moment, Task, TaskReport } from "./checkpoint/moments/moment.js";
export { defaultRetention, type RetentionPolicy } from "./checkpoint/retention.js";
export type { Answer, Question, RunEvent, RunEventType } from "./checkpoint/run-event.js";
export { type Artifact, Checkpoint, type GateResult, type PhaseState, Trigger } from "./checkpoint/schema.js";
export type { StorageOptions } from "./checkpoint/storage-options.js";
export { CrunchError } from "./errors.js";
export type { CheckpointStore, FileChange, PutOptions, PutResult } from "./ports.js";
export { renderDiffMarkdown, renderDiffText } from "./render/diff.js";
export { type Pictured, renderWorkflowPicture } from "./render/workflow-picture.js";
export { type AnswerOptions, answer } from "./runtime/answer.js";
export type { OpenQuestion, RunResult } from "./runtime/run-result.js";
export { runWorkflow } from "./runtime/run-workflow.js";
export type { RunOptions } from "./runtime/session.js";
export { defineWorkflow, type WorkflowDefinition, type WorkflowOptions } from "./workflow/define-workflow.js";
export {
  type AgentPhase,
  agentPhase,
  type ConsensusPhase,
  type ConsensusResult,
  consensusPhase,
  type ErrorPolicy,
  type HumanPhase,
  type HumanRequest,
  humanPhase,
  type Next,
  type PhaseContext,
  type PhaseDefinition,
  type TaskContext,
  type TaskDefinition,
  type TasksPhase,
  type TerminalPhase,
  type TimeLimits,
  tasksPhase,
  terminalPhase,
  type Vote,
} from "./workflow/definition.js";
export { type RunRecord, recordOf, replay } from "./workflow/replay.js";
