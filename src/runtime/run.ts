import type { StateOf } from "../workflow/define-workflow.js";
import { firstFailed, hasArrived, nextTry, readiness } from "../workflow/readiness.js";
import { askAtOnce, isOnlyQuestion } from "./ask-at-once.js";
import { type Beginning, beginnings, isInstant } from "./beginnings.js";
import { closeQuestions } from "./close-questions.js";
import { endFailed, endWithError } from "./ending.js";
import type { RunHost } from "./host.js";
import { runLifecycle } from "./lifecycle.js";
import { givenUp, momentOf, stuck, worthier } from "./moments.js";
import { passBy } from "./pass-by.js";
import { createPhaseRun, type PhaseRun } from "./phase-run.js";
import type { Moment } from "./recorder.js";
import { recover, takesTime } from "./recover.js";
import { type HostedResult, openQuestions, type RunResult, type RunResultKind } from "./run-result.js";
import type { RunOptions, Session } from "./session.js";
import { sleepUntil } from "./sleep.js";
import { tellEnd } from "./tell-end.js";

type Active<S extends StateOf> = { readonly promise: Promise<void>; readonly run: PhaseRun<S> };
type Settings = Pick<RunOptions, "retryFailed" | "signal" | "maxWaitMs" | "random">;

export class Run<S extends StateOf> {
  readonly #active = new Map<string, Active<S>>();
  /** The phases that this session has worked on. */
  readonly #begun = new Set<string>();
  /** What has happened since the last checkpoint that is worth one. */
  #moment: Moment | null = null;
  readonly #stop: AbortSignal;

  constructor(
    private readonly session: Session<S>,
    private readonly options: Settings,
    private readonly host: RunHost | null = null,
    moment: Moment | null = null,
  ) {
    this.#moment = moment;
    this.#stop = options.signal ?? new AbortController().signal;
  }

  async run(): Promise<HostedResult<S>> {
    try {
      return await this.#steps();
    } finally {
      for (const { run } of this.#active.values()) run.cancel(new Error("the session has ended"));
    }
  }

  async #steps(): Promise<HostedResult<S>> {
    for (const { phase, error } of recover(this.session, this.options.retryFailed))
      this.#giveUp(phase, error);
    // An answer that takes time to be carried out is written down first.
    if (this.host && this.#moment && takesTime(this.session, this.#moment.phase)) await this.#save([]);
    for (;;) {
      if (this.#stop.aborted) return this.#stopped();
      for (const moment of await closeQuestions(this.session, (name) => this.#phaseRun(name)))
        this.#note(moment);
      const due = this.#pass();
      this.#cancelReset();
      if (this.host && this.#moment) {
        await this.#save([]);
        continue;
      }
      const isHeldBack = this.host !== null && due.length > 0 && !(await this.host.mayBegin());
      // While somebody looked whether it may begin, more may have ended.
      const begun = isHeldBack ? [] : this.#begin(this.host ? this.#due() : due);
      if (this.#moment || begun.length > 0) await this.#save(begun);
      for (const run of begun) this.#launch(run);
      // A phase may have ended while the checkpoint was stored.
      if (this.#moment) continue;
      if (this.#active.size === 0) {
        const result = isHeldBack ? this.#result({ status: "held_back" }) : await this.#rest();
        if (result) return result;
        continue;
      }
      await this.#somethingHappens();
      if (this.#crash !== null) throw this.#crash;
    }
  }

  /** A phase has ended, or the next try of another is due. */
  async #somethingHappens(): Promise<void> {
    const awake = new AbortController();
    const waitMs = nextTry(this.session.recorder.record.phases) - this.session.now().getTime();
    const ended = [...this.#active.values()].map(({ promise }) => promise);
    const due = Number.isFinite(waitMs) && this.#failed() === null ? [sleepUntil(waitMs, awake.signal)] : [];
    await Promise.race([...ended, ...due]);
    awake.abort();
  }

  /** What no policy of a phase is about: a chain that can't be written, or a mistake of ours. */
  #crash: unknown = null;

  /** What takes no time; each may lead to the next. Gives what is due then. */
  #pass(): readonly Beginning[] {
    for (let due = this.#due(); ; due = this.#due()) {
      const instant = due.filter(isInstant);
      if (instant.length === 0) return due;
      for (const beginning of instant) {
        const moment = passBy(this.session, beginning, (name) => this.#phaseRun(name));
        this.#moment ??= moment;
      }
    }
  }

  #due(): readonly Beginning[] {
    const { recorder, workflow, now } = this.session;
    return beginnings(workflow, recorder.record, (name) => this.#active.has(name), now());
  }

  #begin(due: readonly Beginning[]): PhaseRun<S>[] {
    const begun: PhaseRun<S>[] = [];
    for (const beginning of due) {
      const { name: phase } = beginning;
      if (beginning.kind === "too_often") {
        this.#giveUp(phase, { code: "too_often", message: `it was begun ${beginning.times} times` });
      } else if (beginning.kind === "start") {
        const { attempt, version } = beginning;
        this.session.recorder.tell({ type: "phase:started", phase, attempt, version });
        const run = this.#phaseRun(phase);
        if (isOnlyQuestion(run)) this.#note(askAtOnce(run));
        else begun.push(run);
      }
    }
    return begun;
  }

  #giveUp(phase: string, error: { readonly code: string; readonly message: string }): void {
    endFailed(this.#phaseRun(phase), error);
    this.#note(givenUp(phase, error));
  }

  #launch(run: PhaseRun<S>): void {
    this.#active.set(run.name, { promise: this.#work(run), run });
    this.#begun.add(run.name);
  }

  #phaseRun(name: string): PhaseRun<S> {
    const { random = Math.random } = this.options;
    const savesBatch = (isLast: boolean) => this.host?.savesBatch(isLast) ?? true;
    return createPhaseRun({ ...this.session, name, stop: this.#stop, random, savesBatch });
  }

  /** Never rejects. */
  async #work(run: PhaseRun<S>): Promise<void> {
    const { name, recorder } = run;
    let failure: unknown = null;
    try {
      await runLifecycle(run);
    } catch (error) {
      // Cancelled, or told to stop: it has not failed.
      if (run.signal.aborted) return this.#leave(run);
      failure = error;
    }
    try {
      if (recorder.broken !== null) throw recorder.broken;
      if (failure !== null) endWithError(run, failure);
      this.#cancelReset();
      this.#note(momentOf(name, recorder.record.phases[name]?.status, failure));
    } catch (error) {
      this.#crash ??= error;
    }
    this.#leave(run);
  }

  /** Together with its last event, so that nobody finds a phase at work that has ended. */
  #leave(run: PhaseRun<S>): void {
    if (this.#active.get(run.name)?.run === run) this.#active.delete(run.name);
  }

  /** A phase that led back took others with it that were still at work: what they do no longer counts. */
  #cancelReset(): void {
    for (const [name, { run }] of this.#active)
      if (this.session.recorder.record.phases[name]?.status === "pending") {
        run.cancel(new Error("an earlier phase begins again"));
        this.#active.delete(name);
      }
  }

  #note(moment: Moment): void {
    this.#moment = worthier(this.#moment, moment);
  }

  async #save(begun: readonly PhaseRun<S>[]): Promise<void> {
    const moment: Moment = this.#moment ?? {
      ...{ type: "PRE", trigger: "phase_start", outcome: null },
      phase: begun[0]?.name ?? this.session.workflow.first,
    };
    this.#moment = null;
    const { recorder } = this.session;
    if (begun.length === 0 && this.#active.size === 0 && this.#due().length === 0)
      tellEnd(this.session, moment.phase);
    await recorder.save(moment);
    if (this.host && recorder.latest) await this.host.saved(recorder.latest);
  }

  #failed(): string | null {
    return firstFailed(this.session.workflow.graph, this.session.recorder.record.phases);
  }

  /** Nothing is at work: how the session ends, or null when it goes on after a short wait. */
  async #rest(): Promise<RunResult<S> | null> {
    const { recorder, workflow, now } = this.session;
    const { phases, questions } = recorder.record;
    const failed = this.#failed();
    if (failed !== null)
      return this.#result({
        ...{ status: "failed", phase: failed },
        error: phases[failed]?.failure?.message ?? "",
      });
    if (readiness(workflow.graph, phases, now()).ready.length > 0) return null;
    const dueAt = nextTry(phases);
    const waitMs = dueAt - now().getTime();
    if (waitMs <= (this.options.maxWaitMs ?? 60_000)) {
      await sleepUntil(waitMs, this.#stop);
      return null;
    }
    if (Object.keys(questions).length > 0)
      return this.#result({ status: "waiting", questions: openQuestions(questions) });
    if (!Number.isFinite(dueAt)) {
      if (!hasArrived(workflow.graph, phases)) throw stuck(workflow.name);
      return this.#result({ status: "finished" });
    }
    return this.#result({ status: "sleeping", until: new Date(dueAt).toISOString() });
  }

  async #stopped(): Promise<RunResult<S>> {
    await Promise.all([...this.#active.values()].map(({ promise }) => promise));
    await this.host?.stopped();
    const { recorder } = this.session;
    const stopped = [...this.#begun].filter((name) => recorder.record.phases[name]?.status === "running");
    for (const phase of stopped) recorder.tell({ type: "phase:stopped", phase });
    const phase = stopped[0] ?? recorder.latest?.workflow_state.current_phase ?? this.session.workflow.first;
    const trigger = this.host?.stopTrigger() ?? "session_end";
    await recorder.save({ type: "PRE", trigger, outcome: "interrupted", phase });
    return this.#result({ status: "stopped" });
  }

  #result<How extends RunResultKind | { readonly status: "held_back" }>(how: How) {
    const { recorder } = this.session;
    const checkpoint = recorder.latest;
    if (!checkpoint) throw new Error("a run without a checkpoint");
    return { ...how, state: recorder.state(), checkpoint };
  }
}
