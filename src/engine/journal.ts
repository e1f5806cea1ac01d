import { type CheckpointChange, emptyRun, firstCheckpoint, nextCheckpoint } from "../checkpoint/create.js";
import type { RunEvent } from "../checkpoint/run-event.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";
import type { Commit } from "../runtime/recorder.js";
import { gaveWay } from "../runtime/store-commit.js";
import { taskKey } from "../workflow/replay.js";
import { artifactPath, readArtifact } from "./artifacts.js";
import { Deadlines } from "./deadlines.js";
import { withHandled } from "./events.js";
import {
  type Carried,
  type Ending,
  type JournalStart,
  nothing,
  type Own,
  saidBy,
  type Unfinished,
  unfinishedOf,
  withHint,
} from "./journal-parts.js";
import { commit, type Session } from "./session.js";
import { hasAfter } from "./work-time.js";

/** Makes checkpoints of a run on an issue: what its events say, with code, outputs, notes, agents and the lease. */
export class Journal {
  #run: Carried;
  #files: FileChange[] = [];
  /** Those of the checkpoint that is just being stored. */
  #storing: readonly FileChange[] = [];
  #own: Own = nothing;
  #codeCommitted: string | null;
  readonly #unfinished: Map<string, Unfinished>;
  readonly #endings = new Map<string, Ending>();
  readonly #deadlines: Deadlines;
  readonly #begunAt = new Map<string, string>();
  /** What tasks have changed in this session, one after the other. */
  readonly #changed: (readonly string[])[] = [];

  constructor(
    private readonly session: Session,
    private readonly start: JournalStart,
  ) {
    this.#run = start.carried;
    this.#deadlines = new Deadlines(session);
    this.#codeCommitted = start.carried.issue_snapshot.head_sha;
    this.#unfinished = unfinishedOf(start.isNewRun ? null : start.latest);
  }

  get run(): Carried {
    return this.#run;
  }

  keep(part: Partial<Carried>, files: readonly FileChange[] = []): void {
    this.#run = { ...this.#run, ...part };
    this.#files.push(...files);
  }

  say(own: Partial<Own>): void {
    this.#own = { ...this.#own, ...own, metadata: { ...this.#own.metadata, ...own.metadata } };
  }

  /** The bytes of an artifact, also of one that the next checkpoint will be the first to have. */
  async read(artifact: { readonly path: string; readonly hash: string }): Promise<Buffer> {
    const path = artifactPath(artifact.hash);
    const own = [...this.#storing, ...this.#files].find((file) => file.path === path);
    return own?.content ?? readArtifact(this.session.store, this.start.issue, artifact);
  }

  unfinished(key: string): Unfinished | null {
    return this.#unfinished.get(key) ?? null;
  }

  keepUnfinished(key: string, work: Unfinished, files: readonly FileChange[]): void {
    this.#unfinished.set(key, work);
    this.#files.push(...files);
  }

  /** How much was changed so far; `changedSince` gives what was changed after that. */
  get mark(): number {
    return this.#changed.length;
  }

  changedSince(mark: number): ReadonlySet<string> {
    return new Set(this.#changed.slice(mark).flat());
  }

  /** Has the ending count as soon as an event says that the task is over, which also lets the next one in. */
  atEnd(key: string, ending: Ending): void {
    this.#endings.set(key, ending);
  }

  /** What had come to its end when the session had to stop: nobody has told of it yet. */
  ended(): readonly { readonly key: string; readonly output: string }[] {
    return [...this.#endings].flatMap(([key, { output }]) => (output === null ? [] : [{ key, output }]));
  }

  isEnding(key: string): boolean {
    return this.#endings.has(key);
  }

  /** Every event of the run, at the moment it is told. */
  hears(event: RunEvent): void {
    switch (event.type) {
      case "phase:started":
        this.#begunAt.set(event.phase, this.session.clock.now().toISOString());
        this.#deadlines.begin(event.phase);
        return;
      case "phase:succeeded":
      case "phase:failed":
      case "phase:retrying":
      case "phase:stopped":
      case "input:requested":
        this.#deadlines.end(event.phase);
        return;
      case "phase:skipped":
        this.#deadlines.end(event.phase);
        this.say({ note: event.reason });
        return;
      case "phases:reset":
        for (const phase of event.phases) {
          this.#deadlines.end(phase);
          this.forget(phase);
        }
        return;
      case "run:moved":
        for (const phase of Object.keys(event.phases)) if (!event.keep?.includes(phase)) this.forget(phase);
        return;
      case "input:received":
        // What is done about it is done by this session alone.
        if (hasAfter(this.session.plan, event.phase)) this.#deadlines.begin(event.phase, 1);
        this.say({ note: `${saidBy(event.answer.response)} by @${event.answer.by}` });
        return;
      case "task:started":
      case "conflict:started":
        this.#deadlines.begin(event.phase, 1);
        return;
      case "task:completed":
      case "task:failed":
        this.#end(taskKey(event.phase, event.task));
    }
  }

  forgetTask(key: string): void {
    this.#unfinished.delete(key);
  }

  isLeaseShort(latest: Checkpoint): boolean {
    return this.#deadlines.isShort(latest);
  }

  /** What a phase left unfinished is not taken up. */
  forget(phase: string): void {
    for (const key of this.#unfinished.keys())
      if (key.startsWith(taskKey(phase, ""))) this.#unfinished.delete(key);
  }

  #end(key: string): void {
    const ending = this.#endings.get(key);
    if (!ending) return;
    this.#endings.delete(key);
    this.keep(ending.change(this.#run), ending.files);
    this.say(ending.own);
    if (ending.unfinished) this.#unfinished.set(key, ending.unfinished);
    else this.#unfinished.delete(key);
    this.#changed.push(ending.paths);
    ending.release();
  }

  async commit({ moment, latest, isNewRun, phases, change }: Commit): Promise<Checkpoint> {
    const { session, start } = this;
    const { maker, plan } = session;
    const fresh =
      latest === null || isNewRun
        ? emptyRun({
            ...{ issue: start.issue, workflow: plan.workflow.name, phase: moment.phase, phases },
            ...{ snapshot: this.#run.issue_snapshot, startedBy: start.actor, maker },
          })
        : null;
    const run = { ...(fresh ?? latest), ...this.#run };
    const { files, own } = this.#take();
    this.#storing = files;
    const next = { ...fresh, ...this.#run, ...this.#complete(change(run as Checkpoint), latest), ...own };
    const checkpoint =
      fresh && latest === null ? firstCheckpoint(fresh, next, maker) : nextOf(latest, next, session);
    const head = this.#run.issue_snapshot.head_sha;
    const committed = await commit(session, checkpoint, {
      ...{ files, codeCommit: head === this.#codeCommitted ? null : head },
      heldUntil: latest?.lease?.session_id === session.id ? latest.lease.expires_at : null,
    });
    if (committed.status === "gave_way") throw gaveWay(start.issue, committed.latest);
    this.#codeCommitted = head;
    this.#storing = [];
    return committed.checkpoint;
  }

  #take() {
    const taken = { files: this.#files, own: this.#own };
    this.#files = [];
    this.#own = nothing;
    return taken;
  }

  #complete(change: CheckpointChange, latest: Checkpoint | null): CheckpointChange {
    const { workflow_state: state, orchestrator_state: run } = change;
    if (!state || !run) throw new Error("a change without the state of the run");
    const before = latest?.workflow_state;
    const carriedAt = before?.current_phase === state.current_phase ? before.phase_started_at : undefined;
    return {
      ...change,
      lease: change.outcome === "interrupted" ? null : this.#deadlines.lease(),
      ...(change.error && { error: withHint(change.error) }),
      partial_work: [...this.#unfinished].flatMap(([task, { partial_work }]) =>
        partial_work.map((file) => ({ ...file, task })),
      ),
      progress: [...this.#unfinished].flatMap(([task, { progress }]) =>
        progress.map((line) => ({ ...line, task })),
      ),
      workflow_state: {
        ...state,
        phase_started_at: this.#begunAt.get(state.current_phase) ?? carriedAt ?? state.phase_started_at,
        phase_attempt: Math.max(1, state.phase_attempt),
      },
      orchestrator_state: { ...run, handled_events: withHandled(run.handled_events, this.start.eventKey) },
    };
  }
}

function nextOf(latest: Checkpoint | null, change: CheckpointChange, { maker }: Session): Checkpoint {
  if (!latest) throw new Error("a run that goes on has a checkpoint");
  return nextCheckpoint(latest, change, maker);
}
