import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Freshness, StaleKind } from "../../src/checkpoint/freshness.js";
import { PhaseStatus } from "../../src/checkpoint/schema.js";
import { parseCommand } from "../../src/commands/parse.js";
import { decide } from "../../src/engine/decide.js";
import { type Decision, isStep } from "../../src/engine/decision.js";
import type { Situation } from "../../src/engine/situation.js";
import { labelFor, standingOf } from "../../src/engine/standing.js";
import type { Permission } from "../../src/ports.js";
import type { Workflow } from "../../src/workflow/workflow.js";
import { aCheckpoint, anIssue, approved, phasesWith, type Statuses, unattended } from "../builders.js";

interface Given {
  readonly event: string;
  /** How far the run has come; null before the first. */
  readonly phases?: Statuses | null;
  /** Instead of the label that belongs there, and the one that was just added. */
  readonly labels?: readonly string[];
  readonly workflow?: Workflow;
  readonly advance?: "auto" | "manual";
  readonly permission?: Permission;
  readonly isHeld?: boolean;
  readonly isOpen?: boolean;
  /** The same event was handled before. */
  readonly again?: boolean;
  readonly hasAgent?: boolean;
  readonly obstacle?: Situation["obstacle"];
  readonly freshness?: Situation["freshness"];
  readonly isAsked?: boolean;
  readonly movedTo?: string;
  /** The latest checkpoint is a rollback. */
  readonly isRolledBack?: boolean;
}

/** `+label`, `-label`, a comment, `started` or `continue`. */
function eventNamed(text: string): Situation["event"] {
  const about = { issue: 42, key: "key-1", actor: "mona", commentId: 9 };
  if (text === "started" || text === "continue") return { kind: text, issue: 42, key: "key-1" };
  if (text.startsWith("+")) return { kind: "labeled", label: text.slice(1), ...about };
  if (text.startsWith("-")) return { kind: "unlabeled", label: text.slice(1), ...about };
  switch (text) {
    case "/crunch":
      return { kind: "command", command: { name: "run" }, ...about };
    case "/crunch status":
      return { kind: "command", command: { name: "status" }, ...about };
    case "/crunch --checkpoint":
      return { kind: "command", command: { name: "checkpoint", note: "before lunch" }, ...about };
    default: {
      const parsed = parseCommand(text);
      if (parsed?.status === "ok") return { kind: "command", command: parsed.command, ...about };
      return { kind: "bad_command", problem: "there is no such command", ...about };
    }
  }
}

function situation(given: Given): Situation {
  const { workflow = unattended, advance = "auto", phases = null } = given;
  const current = phases && labelFor(standingOf(workflow, phasesWith(phases, workflow), advance));
  // `-current` takes off whatever label belongs there.
  const event = eventNamed(given.event.replace("current", current ?? "state:enrich"));
  const labels = new Set(current === null ? [] : [current]);
  if (event.kind === "labeled") labels.add(event.label);
  if (event.kind === "unlabeled") labels.delete(event.label);
  return {
    event,
    issue: anIssue({ labels: given.labels ?? [...labels], isOpen: given.isOpen ?? true }),
    latest:
      phases &&
      aCheckpoint({
        ...{ phases, workflow, handled: given.again ? ["key-1"] : [] },
        pause: given.isRolledBack ? { kind: "rollback" } : null,
      }),
    workflow,
    advance,
    maxAttempts: 3,
    hasAgent: () => given.hasAgent ?? true,
    permission: given.permission ?? "write",
    isHeld: given.isHeld ?? false,
    obstacle: given.obstacle ?? null,
    freshness: given.freshness ?? null,
    isAsked: given.isAsked ?? false,
    now: new Date("2025-01-14T12:00:00Z"),
    movedTo: given.movedTo ?? null,
  };
}

/** A decision in a few words: `run enrich`, `refuse busy, take off state:docs`. */
function spelled(decision: Decision): string {
  if (isStep(decision)) return `${decision.kind} ${decision.phase}`;
  if (decision.kind === "wait") return `wait ${decision.reason}`;
  if (decision.kind === "rollback") return `rollback ${decision.id}${decision.goesOn ? " and go on" : ""}`;
  if (decision.kind === "preview") return `preview ${decision.id ?? "latest"}`;
  if (decision.kind === "compare") return `compare ${decision.before} ${decision.after}`;
  if (decision.kind !== "refuse") return decision.kind;
  const off = decision.removeLabel === null ? "" : `, take off ${decision.removeLabel}`;
  const back = decision.restoreLabel === null ? "" : `, put back ${decision.restoreLabel}`;
  return `refuse ${decision.code}${off}${back}`;
}

const decided = (given: Given) => spelled(decide(situation(given)));

/** Where a run can stand in the workflow that needs an approval. */
const standings = {
  "no run yet": null,
  "enrich was running, its session is gone": { enrich: "running" },
  "ready is next": { enrich: "succeeded" },
  "ready waits for a person": { enrich: "succeeded", ready: "waiting" },
  "implementing is next": { enrich: "succeeded", ready: "succeeded" },
  "implementing failed": { enrich: "succeeded", ready: "succeeded", implementing: "failed" },
  "the run is over": {
    ...{ enrich: "succeeded", ready: "succeeded", implementing: "succeeded" },
    ...{ validation: "succeeded", docs: "succeeded", done: "succeeded" },
  },
} satisfies Record<string, Statuses | null>;
type StandingName = keyof typeof standings;

const cp = "CP-enrich-20250114-a3f2";

/** The world after these changes. */
function changed(...kinds: StaleKind[]): Freshness {
  const severity = {
    branch_deleted: "error",
    body_changed: "question",
    files_changed: "question",
    labels_changed: "warning",
  } as const;
  const findings = kinds.map((kind) => ({
    ...{ kind, severity: severity[kind], action: "prompt_user" as const, message: `${kind}.`, diff: null },
  }));
  return { canResume: !kinds.includes("branch_deleted"), action: "prompt_user", findings };
}

describe("in a world that has changed since the checkpoint", () => {
  const phases = standings["implementing is next"];
  it.each<[string, Given, string]>([
    ["a changed text is asked about", { event: "/crunch", freshness: changed("body_changed") }, "pause"],
    ["also when Crunch starts", { event: "started", freshness: changed("body_changed") }, "pause"],
    [
      "a start asks only once",
      { event: "started", freshness: changed("body_changed"), isAsked: true },
      "wait stale",
    ],
    [
      "who asks again is told again",
      { event: "/crunch", freshness: changed("body_changed"), isAsked: true },
      "pause",
    ],
    [
      "an answer goes on",
      { event: "/crunch resume --accept", freshness: changed("body_changed"), isAsked: true },
      "run implementing",
    ],
    [
      "an answer to what was never shown is none",
      { event: "/crunch resume --accept", freshness: changed("body_changed") },
      "pause",
    ],
    [
      "changed files need an answer of their own",
      { event: "/crunch resume --accept", freshness: changed("files_changed"), isAsked: true },
      "pause",
    ],
    [
      "theirs may be kept",
      { event: "/crunch resume --keep-theirs", freshness: changed("files_changed"), isAsked: true },
      "run implementing",
    ],
    [
      "or mine",
      { event: "/crunch resume --keep-mine", freshness: changed("files_changed"), isAsked: true },
      "run implementing",
    ],
    [
      "each question has to be answered",
      {
        event: "/crunch resume --keep-mine",
        freshness: changed("body_changed", "files_changed"),
        isAsked: true,
      },
      "pause",
    ],
    [
      "all of them are",
      {
        event: "/crunch resume --accept --keep-mine",
        freshness: changed("body_changed", "files_changed"),
        isAsked: true,
      },
      "run implementing",
    ],
    [
      "labels alone stop nothing",
      { event: "/crunch", freshness: changed("labels_changed") },
      "run implementing",
    ],
    [
      "a deleted branch is refused",
      { event: "/crunch", freshness: changed("branch_deleted") },
      "refuse branch_deleted",
    ],
    [
      "even if accepted",
      {
        event: "/crunch resume --accept",
        freshness: changed("branch_deleted", "body_changed"),
        isAsked: true,
      },
      "refuse branch_deleted",
    ],
    ["but not a restart", { event: "/crunch restart", freshness: changed("branch_deleted") }, "run enrich"],
    [
      "whoever adds a label has seen the branch",
      { event: "+state:implementing", freshness: changed("files_changed") },
      "run implementing",
    ],
    [
      "but perhaps not the text",
      { event: "+state:implementing", freshness: changed("body_changed", "files_changed") },
      "pause",
    ],
    [
      "an approval is of what was asked about",
      {
        event: "+state:implementing",
        freshness: changed("body_changed"),
        workflow: approved,
        phases: standings["ready waits for a person"],
      },
      "ask ready",
    ],
    [
      "also of the code",
      {
        event: "+state:implementing",
        freshness: changed("files_changed"),
        workflow: approved,
        phases: standings["ready waits for a person"],
      },
      "ask ready",
    ],
    [
      "other labels do not void it",
      {
        event: "+state:implementing",
        freshness: changed("labels_changed"),
        workflow: approved,
        phases: standings["ready waits for a person"],
      },
      "approve ready",
    ],
    [
      "but not a deleted branch",
      { event: "+state:implementing", freshness: changed("branch_deleted") },
      "refuse branch_deleted",
    ],
    [
      "a session that is under way goes on",
      { event: "continue", freshness: changed("body_changed") },
      "run implementing",
    ],
    [
      "a finished run has no questions",
      { event: "/crunch", freshness: changed("body_changed"), phases: standings["the run is over"] },
      "finish",
    ],
  ])("%s", (_, given, decision) => {
    expect(decided({ phases, ...given })).toBe(decision);
  });
});

describe("the commands about checkpoints", () => {
  const phases = standings["implementing failed"];
  it.each<[string, Given, string]>([
    ["resume tries again what failed", { event: "/crunch resume" }, "run implementing"],
    ["resume needs a run", { event: "/crunch resume", phases: null }, "refuse nothing_to_resume"],
    [
      "resume from another checkpoint rolls back first",
      { event: `/crunch resume ${cp}` },
      `rollback ${cp} and go on`,
    ],
    ["resume gives way to a session", { event: "/crunch resume", isHeld: true }, "refuse busy"],
    ["a dry run disturbs nobody", { event: "/crunch resume --dry-run", isHeld: true }, "preview latest"],
    ["a dry run of another checkpoint", { event: `/crunch resume ${cp} --dry-run` }, `preview ${cp}`],
    [
      "a dry run needs a run",
      { event: "/crunch resume --dry-run", phases: null },
      "refuse nothing_to_resume",
    ],
    ["rollback rolls back, and runs nothing", { event: `/crunch rollback ${cp}` }, `rollback ${cp}`],
    ["rollback gives way to a session", { event: `/crunch rollback ${cp}`, isHeld: true }, "refuse busy"],
    [
      "rollback needs write access",
      { event: `/crunch rollback ${cp}`, permission: "triage" },
      "refuse no_permission",
    ],
    ["rollback delivered again is done already", { event: `/crunch rollback ${cp}`, again: true }, "ignore"],
    [
      "a rolled back run waits at a start",
      { event: "started", isRolledBack: true, phases: { enrich: "succeeded" } },
      "wait rolled_back",
    ],
    [
      "and goes on when asked to",
      { event: "/crunch resume", isRolledBack: true, phases: { enrich: "succeeded" } },
      "pass ready",
    ],
    ["diff compares", { event: `/crunch diff ${cp}` }, `compare ${cp} latest`],
    [
      "diff takes triage access",
      { event: `/crunch diff ${cp}`, permission: "triage" },
      `compare ${cp} latest`,
    ],
    [
      "diff is not for everybody",
      { event: `/crunch diff ${cp}`, permission: "read" },
      "refuse no_permission",
    ],
    ["restart begins at the first phase", { event: "/crunch restart" }, "run enrich"],
    ["restart begins a run that never was", { event: "/crunch restart", phases: null }, "run enrich"],
    ["restart gives way to a session", { event: "/crunch restart", isHeld: true }, "refuse busy"],
    ["restart needs an agent", { event: "/crunch restart", hasAgent: false }, "refuse no_agent"],
    ["restart on a closed issue", { event: "/crunch restart", isOpen: false }, "refuse issue_closed"],
  ])("%s", (_, given, decision) => {
    expect(decided({ phases, ...given })).toBe(decision);
  });

  it("a state label that a person moved while nobody listened is where a resume goes on", () => {
    const moved = { event: "/crunch resume", phases, labels: ["state:validation"] };
    expect(decided({ ...moved, movedTo: "validation" })).toBe("run validation");
    expect(decided(moved)).toBe("run implementing");
  });

  it("such a label is no approval", () => {
    const waiting = {
      event: "/crunch resume",
      phases: standings["ready waits for a person"],
      workflow: approved,
    };
    expect(decided({ ...waiting, movedTo: "implementing" })).toBe("refuse waiting_for_person");
  });

  it("the label of a running phase stays on the issue, whoever put it back; that of a stopped one does not", () => {
    const again = { event: "+state:implementing", phases, permission: "triage" as const };
    expect(decided({ ...again, isHeld: true })).toBe("refuse no_permission");
    expect(decided(again)).toBe("refuse no_permission, take off state:implementing");
  });
});

describe("with write access, while nobody works on it", () => {
  const sameEverywhere = {
    "+state:enrich": "run enrich",
    "+state:done": "refuse terminal_label, take off state:done",
    "+state:unheard-of": "refuse unknown_label",
    "+bug": "ignore",
    "-current": "wait label_removed",
    "-state:docs": "ignore",
    "/crunch --checkpoint": "save",
    "/crunch status": "answer",
    "/crunch dance": "refuse unknown_command",
  };
  const expected: Record<StandingName, Record<string, string>> = {
    "no run yet": {
      ...sameEverywhere,
      started: "ignore",
      "+state:implementing": "run implementing",
      "-current": "ignore",
      "/crunch": "run enrich",
      "/crunch --checkpoint": "refuse nothing_to_save",
    },
    "enrich was running, its session is gone": {
      ...sameEverywhere,
      started: "run enrich",
      continue: "run enrich",
      "+state:implementing": "run implementing",
      "/crunch": "run enrich",
    },
    "ready is next": {
      ...sameEverywhere,
      started: "ask ready",
      continue: "ask ready",
      "+state:implementing": "run implementing",
      "/crunch": "ask ready",
    },
    "ready waits for a person": {
      ...sameEverywhere,
      started: "wait person",
      continue: "wait person",
      "+state:implementing": "approve ready",
      "+state:validation": "run validation",
      "/crunch": "refuse waiting_for_person",
    },
    "implementing is next": {
      ...sameEverywhere,
      started: "run implementing",
      continue: "run implementing",
      "+state:implementing": "run implementing",
      "/crunch": "run implementing",
    },
    "implementing failed": {
      ...sameEverywhere,
      started: "wait failed",
      continue: "wait failed",
      "+state:implementing": "run implementing",
      "+state:docs": "run docs",
      "/crunch": "run implementing",
    },
    "the run is over": {
      ...sameEverywhere,
      started: "finish",
      continue: "finish",
      "+state:implementing": "run implementing",
      "+state:done": "finish",
      "-current": "ignore",
      "/crunch": "finish",
    },
  };
  const cells = Object.entries(expected).flatMap(([standing, row]) =>
    Object.entries(row).map(([event, decision]) => [standing as StandingName, event, decision] as const),
  );

  it.each(cells)("%s; %s → %s", (standing, event, decision) => {
    expect(decided({ event, phases: standings[standing], workflow: approved })).toBe(decision);
  });
});

describe("while another session works on it", () => {
  const running: Statuses = { enrich: "succeeded", ready: "skipped", implementing: "running" };
  it.each([
    ["started", "ignore"],
    ["+state:implementing", "ignore"],
    ["+state:docs", "refuse busy, take off state:docs"],
    ["+state:enrich", "refuse busy, take off state:enrich"],
    ["+state:done", "refuse busy, take off state:done"],
    ["+state:unheard-of", "refuse unknown_label"],
    ["-current", "ignore"],
    ["/crunch", "refuse busy"],
    ["/crunch --checkpoint", "save"],
    ["/crunch status", "answer"],
    ["/crunch dance", "refuse unknown_command"],
  ])("%s → %s", (event, decision) => {
    expect(decided({ event, phases: running, isHeld: true })).toBe(decision);
  });

  it("the refusal names the phase that is running", () => {
    const decision = decide(situation({ event: "+state:docs", phases: running, isHeld: true }));
    expect(decision).toMatchObject({ detail: "`implementing` is running" });
  });
});

describe("without write access", () => {
  const phases = standings["implementing is next"];
  it.each<[Permission, string, string]>([
    ["triage", "+state:validation", "refuse no_permission, take off state:validation"],
    ["read", "+state:enrich", "refuse no_permission, take off state:enrich"],
    ["none", "+state:done", "refuse no_permission, take off state:done"],
    ["triage", "+state:of-another-tool", "refuse no_permission"],
    ["triage", "-current", "refuse no_permission, put back state:implementing"],
    ["triage", "-state:docs", "refuse no_permission"],
    ["triage", "/crunch", "refuse no_permission"],
    ["read", "/crunch", "refuse no_permission"],
    ["triage", "/crunch --checkpoint", "refuse no_permission"],
    ["triage", "/crunch status", "answer"],
    ["read", "/crunch status", "refuse no_permission"],
    ["none", "/crunch dance", "refuse no_permission"],
  ])("%s access; %s → %s", (permission, event, decision) => {
    expect(decided({ event, phases, permission })).toBe(decision);
    expect(decided({ event, phases, permission, isHeld: true })).toBe(decision);
  });

  it("a label that opened the issue starts nothing, and is taken off", () => {
    const given = { event: "+state:enrich", permission: "none" } as const;
    expect(decided(given)).toBe("refuse no_permission, take off state:enrich");
  });

  it("a label that is gone already is not taken off again", () => {
    expect(decided({ event: "+state:docs", phases, permission: "read", labels: [] })).toBe(
      "refuse no_permission",
    );
  });

  it("an event handled before gives a stranger nothing either", () => {
    expect(decided({ event: "/crunch", phases, permission: "read", again: true })).toBe(
      "refuse no_permission",
    );
  });

  it("the refusal says who has which access and what it takes", () => {
    expect(decide(situation({ event: "/crunch", permission: "triage" }))).toMatchObject({
      detail: "@mona has triage access, and this takes write access",
    });
  });

  it("an administrator may do what write access allows", () => {
    expect(decided({ event: "/crunch", permission: "admin" })).toBe("run enrich");
  });

  it("a start of Crunch needs nobody's access", () => {
    expect(decided({ event: "started", phases, permission: "none" })).toBe("run implementing");
  });
});

describe("what a repo's configuration asks of people", () => {
  const enriched: Statuses = { enrich: "succeeded" };
  const passed: Statuses = { enrich: "succeeded", ready: "skipped" };
  it.each<[string, Given, string]>([
    ["ready is passed where no approval is required", { event: "continue", phases: enriched }, "pass ready"],
    ["then implementing begins", { event: "continue", phases: passed }, "run implementing"],
    [
      "by hand, ready is passed as well",
      { event: "continue", phases: enriched, advance: "manual" },
      "pass ready",
    ],
    [
      "by hand, implementing waits for its label",
      { event: "continue", phases: passed, advance: "manual" },
      "wait label",
    ],
    [
      "by hand, its label begins it",
      { event: "+state:implementing", phases: passed, advance: "manual" },
      "run implementing",
    ],
    [
      "by hand, `/crunch` begins it too",
      { event: "/crunch", phases: passed, advance: "manual" },
      "run implementing",
    ],
    [
      "by hand, the first phase begins with the label that starts the run",
      { event: "+state:enrich", advance: "manual" },
      "run enrich",
    ],
    [
      "by hand, a person is asked when ready has its label",
      { event: "+state:ready", phases: enriched, advance: "manual", workflow: approved },
      "ask ready",
    ],
    [
      "by hand, the label that approved is the label of the next phase",
      {
        event: "continue",
        phases: { enrich: "succeeded", ready: "succeeded" },
        advance: "manual",
        workflow: approved,
      },
      "run implementing",
    ],
    [
      "by hand, a phase whose session died needs no new label",
      { event: "started", phases: { ...passed, implementing: "running" }, advance: "manual" },
      "run implementing",
    ],
  ])("%s", (_, given, decision) => {
    expect(decided(given)).toBe(decision);
  });

  it("an approval names who gave it", () => {
    const phases = standings["ready waits for a person"];
    const decision = decide(situation({ event: "+state:implementing", phases, workflow: approved }));
    expect(decision).toMatchObject({ kind: "approve", phase: "ready", by: "mona" });
  });

  it("`/crunch` is no approval, and its refusal names the label that is one", () => {
    const phases = standings["ready waits for a person"];
    const decision = decide(situation({ event: "/crunch", phases, workflow: approved }));
    expect(decision).toMatchObject({
      detail: "to approve, comment `/crunch approve` or add the label `state:implementing`",
    });
  });
});

describe("a label for another phase than the next", () => {
  function phasesAfter(event: string, phases: Statuses | null) {
    const decision = decide(situation({ event, phases }));
    if (!isStep(decision)) throw new Error(`no step: ${spelled(decision)}`);
    return Object.fromEntries(Object.entries(decision.phases).map(([name, { status }]) => [name, status]));
  }

  it("further on: what lies between is skipped, what is done stays done", () => {
    expect(
      phasesAfter("+state:docs", { enrich: "succeeded", ready: "skipped", implementing: "failed" }),
    ).toEqual({
      ...{ enrich: "succeeded", ready: "skipped", implementing: "skipped" },
      ...{ validation: "skipped", docs: "pending", done: "pending" },
    });
  });

  it("further back: everything from there on is to be done again", () => {
    expect(phasesAfter("+state:implementing", standings["the run is over"])).toEqual({
      ...{ enrich: "succeeded", ready: "succeeded", implementing: "pending" },
      ...{ validation: "pending", docs: "pending", done: "pending" },
    });
  });

  it("starts the count of attempts anew", () => {
    const decision = decide(
      situation({ event: "+state:enrich", phases: { enrich: { status: "failed", attempt: 3, version: 2 } } }),
    );
    expect(decision).toMatchObject({ kind: "run", phases: { enrich: { attempt: 0, version: 2 } } });
  });
});

describe("a label that came or went meanwhile", () => {
  const phases = standings["implementing is next"];
  it.each<[string, Given, string]>([
    ["an added label that is gone again starts nothing", { event: "+state:docs", labels: [] }, "ignore"],
    [
      "taking the label off stops the run",
      { event: "continue", phases, labels: ["bug"] },
      "wait label_removed",
    ],
    [
      "so does a label that only another tool knows",
      { event: "continue", phases, labels: ["state:of-another-tool"] },
      "wait label_removed",
    ],
    [
      "and a start of Crunch does not resume it",
      { event: "started", phases, labels: [] },
      "wait label_removed",
    ],
    ["`/crunch` resumes it without a label", { event: "/crunch", phases, labels: [] }, "run implementing"],
    [
      "moving from one label to another does not stop the run",
      { event: "-current", phases, labels: ["state:docs"] },
      "ignore",
    ],
    [
      "`/crunch` on an issue with a label but no run starts there",
      { event: "/crunch", labels: ["bug", "state:validation"] },
      "run validation",
    ],
    [
      "of several labels the earliest phase counts",
      { event: "/crunch", labels: ["state:docs", "state:implementing"] },
      "run implementing",
    ],
    [
      "`state:done` is no place to start, so `/crunch` begins at the beginning",
      { event: "/crunch", labels: ["state:done"] },
      "run enrich",
    ],
  ])("%s", (_, given, decision) => {
    expect(decided(given)).toBe(decision);
  });
});

describe("a closed issue", () => {
  const phases = standings["implementing is next"];
  it.each<[string, Given, string]>([
    [
      "a label is refused and taken off",
      { event: "+state:enrich" },
      "refuse issue_closed, take off state:enrich",
    ],
    ["`/crunch` is refused", { event: "/crunch", phases }, "refuse issue_closed"],
    [
      "closed while a phase ran, the next does not begin",
      { event: "continue", phases },
      "refuse issue_closed",
    ],
    ["a start of Crunch leaves it alone", { event: "started", phases }, "ignore"],
    ["its status can be asked for", { event: "/crunch status", phases }, "answer"],
    ["a run that is over stays over", { event: "continue", phases: standings["the run is over"] }, "finish"],
  ])("%s", (_, given, decision) => {
    expect(decided({ ...given, isOpen: false, workflow: approved })).toBe(decision);
  });
});

describe("a session that died", () => {
  const died = (attempt: number): Statuses => ({ enrich: { status: "running", attempt } });

  it("is followed by another attempt as long as some are left", () => {
    expect(decided({ event: "started", phases: died(2) })).toBe("run enrich");
  });

  it("is given up after the last one, with how many there were", () => {
    expect(decide(situation({ event: "started", phases: died(3) }))).toMatchObject({
      kind: "give_up",
      phase: "enrich",
      attempts: 3,
    });
  });

  it("gets all attempts again when a person asks after it was given up", () => {
    const decision = decide(
      situation({ event: "/crunch", phases: { enrich: { status: "failed", attempt: 3 } } }),
    );
    expect(decision).toMatchObject({ kind: "run", phases: { enrich: { status: "pending", attempt: 0 } } });
  });

  it("counts on: the next attempt knows of those before", () => {
    const decision = decide(situation({ event: "started", phases: died(2) }));
    expect(decision).toMatchObject({ kind: "run", phases: { enrich: { status: "running", attempt: 2 } } });
  });
});

describe("an event that was handled before", () => {
  it.each<[string, Given, string]>([
    [
      "is ignored while its session works",
      { event: "+state:enrich", phases: { enrich: "running" }, isHeld: true },
      "ignore",
    ],
    [
      "takes up the work of a session that died",
      { event: "+state:enrich", phases: { enrich: "running" } },
      "run enrich",
    ],
    ["does not try again what failed", { event: "/crunch", phases: { enrich: "failed" } }, "wait failed"],
    [
      "does not go back to the phase it was about",
      { event: "+state:enrich", phases: standings["implementing is next"] },
      "run implementing",
    ],
    [
      "does not save a second checkpoint",
      { event: "/crunch --checkpoint", phases: standings["implementing failed"] },
      "ignore",
    ],
    [
      "does not start a finished run anew",
      { event: "+state:enrich", phases: standings["the run is over"] },
      "finish",
    ],
  ])("%s", (_, given, decision) => {
    expect(decided({ ...given, again: true })).toBe(decision);
  });

  it("counts the attempts on, so that redeliveries can't run an agent for ever", () => {
    const phases: Statuses = { enrich: { status: "running", attempt: 3 } };
    expect(decided({ event: "+state:enrich", phases, again: true })).toBe("give_up enrich");
  });
});

describe("a repo where nothing can run", () => {
  it("says so when a phase has no agent", () => {
    expect(decide(situation({ event: "/crunch", hasAgent: false }))).toMatchObject({
      kind: "refuse",
      code: "no_agent",
      detail: "no agent is configured for `enrich`",
    });
  });

  it("still asks a person, which takes no agent", () => {
    const phases = standings["ready is next"];
    expect(decided({ event: "continue", phases, workflow: approved, hasAgent: false })).toBe("ask ready");
  });

  const obstacle = { code: "config_invalid", detail: "line 3 is wrong" } as const;
  it.each<[string, Given, string]>([
    ["a start", { event: "/crunch" }, "refuse config_invalid"],
    [
      "an approval",
      { event: "+state:implementing", phases: standings["ready waits for a person"], workflow: approved },
      "refuse config_invalid",
    ],
    ["a label", { event: "+state:enrich" }, "refuse config_invalid"],
    ["passing a phase", { event: "continue", phases: { enrich: "succeeded" } }, "refuse config_invalid"],
    ["but not the status", { event: "/crunch status" }, "answer"],
    [
      "but not a checkpoint by hand",
      { event: "/crunch --checkpoint", phases: standings["ready is next"] },
      "save",
    ],
    [
      "nor a refusal with a reason of its own",
      { event: "/crunch", permission: "read" },
      "refuse no_permission",
    ],
  ])("refuses for its configuration: %s", (_, given, decision) => {
    expect(decided({ ...given, obstacle })).toBe(decision);
  });

  it("passes on what the bot's operator does not allow", () => {
    const notAllowed = { code: "not_allowed", detail: "the agent `x` is not one of this bot's" } as const;
    expect(decide(situation({ event: "/crunch", obstacle: notAllowed }))).toMatchObject(notAllowed);
  });
});

describe("a run that began before its workflow got another phase", () => {
  it("goes on with that phase", () => {
    const before = situation({ event: "started", phases: { enrich: "succeeded", ready: "skipped" } });
    if (!before.latest) throw new Error("there is a run");
    const { implementing: _, ...phases } = before.latest.orchestrator_state.phases;
    const orchestrator_state = { ...before.latest.orchestrator_state, phases };
    expect(spelled(decide({ ...before, latest: { ...before.latest, orchestrator_state } }))).toBe(
      "run implementing",
    );
  });
});

describe("whatever happens", () => {
  const names = Object.keys(unattended.phases);
  const labelName = fc.oneof(
    fc.constantFrom(...names.map((name) => `state:${name}`)),
    fc.constantFrom("bug", "state:", "state:__proto__", "state:constructor", "state:unheard-of"),
  );
  const eventText = fc.oneof(
    fc.constantFrom("started", "continue", "/crunch", "/crunch status", "/crunch --checkpoint", "/crunch x"),
    fc.constantFrom("/crunch resume", "/crunch resume --accept --keep-mine", "/crunch resume --dry-run"),
    fc.constantFrom(`/crunch rollback ${cp}`, `/crunch diff ${cp}`, "/crunch restart"),
    labelName.map((label) => `+${label}`),
    labelName.map((label) => `-${label}`),
  );
  const state = fc.record({ status: fc.constantFrom(...PhaseStatus.options), attempt: fc.nat(5) });
  const anyPhases = fc.dictionary(fc.constantFrom(...names), state, { noNullPrototype: true });
  const permissions = ["admin", "write", "triage", "read", "none"] as const;
  const anySituation = fc
    .record({
      event: eventText,
      phases: fc.option(anyPhases),
      labels: fc.uniqueArray(labelName),
      workflow: fc.constantFrom(unattended, approved),
      advance: fc.constantFrom("auto" as const, "manual" as const),
      permission: fc.constantFrom(...permissions),
      isHeld: fc.boolean(),
      isOpen: fc.boolean(),
      again: fc.boolean(),
      hasAgent: fc.boolean(),
      obstacle: fc.option(fc.constant({ code: "not_allowed", detail: "no" } as const)),
      freshness: fc.option(
        fc
          .uniqueArray(
            fc.constantFrom<StaleKind>("branch_deleted", "body_changed", "files_changed", "labels_changed"),
          )
          .map((kinds) => changed(...kinds)),
      ),
      isAsked: fc.boolean(),
      isRolledBack: fc.boolean(),
    })
    .map((given) => frozen(situation(given)));

  function frozen<T>(value: T): T {
    if (typeof value === "object" && value !== null) for (const part of Object.values(value)) frozen(part);
    return Object.freeze(value);
  }

  it("a decision is made, nothing it was made from is changed, and it is the same again", () => {
    fc.assert(
      fc.property(anySituation, (given) => {
        expect(decide(given)).toEqual(decide(given));
      }),
      { numRuns: 2000 },
    );
  });

  it("nobody without write access changes a run", () => {
    const harmless = ["refuse", "ignore", "answer", "preview", "compare"];
    fc.assert(
      fc.property(anySituation, (given) => {
        fc.pre("actor" in given.event && !["write", "admin"].includes(given.permission));
        expect(harmless).toContain(decide(given).kind);
      }),
      { numRuns: 2000 },
    );
  });

  it("nothing runs while another session holds the run, on a closed issue, or against an obstacle", () => {
    fc.assert(
      fc.property(anySituation, (given) => {
        fc.pre(given.isHeld || !given.issue.isOpen || given.obstacle !== null);
        expect(isStep(decide(given))).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("only labels of this workflow are taken off or put back", () => {
    const known = names.map((name) => `state:${name}`);
    fc.assert(
      fc.property(anySituation, (given) => {
        const decision = decide(given);
        if (decision.kind !== "refuse") return;
        expect([null, ...known]).toContain(decision.removeLabel);
        expect([null, ...known]).toContain(decision.restoreLabel);
      }),
      { numRuns: 2000 },
    );
  });

  it("a run that has not begun is neither waited for nor finished", () => {
    fc.assert(
      fc.property(anySituation, (given) => {
        fc.pre(given.latest === null);
        expect(["wait", "finish", "save", "approve", "give_up"]).not.toContain(decide(given).kind);
      }),
      { numRuns: 2000 },
    );
  });
});
