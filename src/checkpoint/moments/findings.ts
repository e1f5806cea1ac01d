import type { CheckpointChange } from "../create.js";
import type { Findings } from "./moment.js";
import type { Run } from "./run.js";

/** What a moment was told of, merged into what the run knows. */
export function withFindings(run: Run, told: Findings): Partial<CheckpointChange> {
  const { artifacts, notes, knowledge, messages, acceptanceCriteria: criteria, snapshot, note } = told;
  return {
    ...(artifacts && { artifacts: { ...run.artifacts, ...artifacts } }),
    ...(notes && { notes: { ...run.notes, ...notes } }),
    ...(knowledge && { knowledge_context: knowledgeAfter(run, knowledge) }),
    ...(messages && {
      acp_state: {
        ...run.acp_state,
        ...(messages.pending && { pending_messages: [...messages.pending] }),
        ...(messages.awaiting && { awaiting_response: [...messages.awaiting] }),
      },
    }),
    ...(criteria && { acceptance_criteria: { ...run.acceptance_criteria, ...criteria } }),
    ...(told.filesModified && { files_modified: [...told.filesModified] }),
    ...(told.partialWork && { partial_work: [...told.partialWork] }),
    ...(told.progress && { progress: [...told.progress] }),
    ...(snapshot && { issue_snapshot: { ...run.issue_snapshot, ...snapshot } }),
    ...(told.projections && { projections: { ...run.projections, ...told.projections } }),
    ...(note !== undefined && { note }),
    ...(told.metadata && { metadata: told.metadata }),
  };
}

/** An entry that was captured is no longer to be captured: a session that resumes must not do it twice. */
function knowledgeAfter({ knowledge_context: before }: Run, told: NonNullable<Findings["knowledge"]>) {
  const captured = union(before.captured_entries, told.captured);
  return {
    injected_entries: union(before.injected_entries, told.injected),
    captured_entries: captured,
    pending_captures: union(before.pending_captures, told.pending).filter((one) => !captured.includes(one)),
  };
}

export function union(before: readonly string[], added: readonly string[] = []): string[] {
  return [...new Set([...before, ...added])];
}
