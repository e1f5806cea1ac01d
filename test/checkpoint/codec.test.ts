import { deepStrictEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCheckpoint, encodeCheckpoint, maxCheckpointBytes } from "../../src/checkpoint/codec.js";
import { recoveryInfo } from "../../src/checkpoint/recovery.js";
import type { Checkpoint } from "../../src/checkpoint/schema.js";
import { CrunchError } from "../../src/errors.js";

const time = "2025-01-14T10:00:00.000Z";

function aCheckpoint(changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    checkpoint_id: "CP-enrich-20250114-a3f2",
    version: "1.1",
    sequence: 1,
    type: "POST",
    trigger: "phase_transition",
    outcome: "succeeded",
    phase_version: 1,
    created_at: time,
    duration_ms: 1200,
    issue_number: 42,
    session_id: "session-1",
    parent_checkpoint_id: null,
    lease: null,
    workflow_state: {
      workflow: "crunch",
      current_phase: "enrich",
      current_state_label: "state:enrich",
      phase_started_at: time,
      phase_attempt: 1,
    },
    orchestrator_state: {
      run_id: "run-1",
      current_phase: "enrich",
      completed_phases: [],
      phases: { enrich: { status: "succeeded", attempt: 1, version: 1, checkpoint_id: null } },
      handled_events: ["comment-1"],
      intake_summary: { started_by: "octocat", title: "A title" },
    },
    issue_snapshot: {
      title: "A title",
      body: "First line\n\n- [ ] a task\n",
      labels: ["state:enrich", "yes"],
      assignees: [],
      branch: null,
      head_sha: null,
      base_branch: "main",
      base_sha: "0123456789abcdef0123456789abcdef01234567",
    },
    team_state: {
      team_id: "team",
      members: [{ agent: "builder", role: "builder", status: "idle", tasks_completed: 1, tasks_pending: 0 }],
    },
    execution_graph: { graph_id: "graph", completed_batches: [0], current_batch: 1, node_states: {} },
    agent_states: {},
    agent_outputs: {
      enrich: { builder: { completed_at: time, output_summary: "Done", output_location: "spec.md" } },
    },
    acp_state: { pending_messages: [], awaiting_response: [], conflicts_in_progress: [] },
    knowledge_context: { injected_entries: [], captured_entries: [], pending_captures: [] },
    files_modified: [],
    artifacts: {},
    notes: {},
    partial_work: [],
    progress: [],
    governance_results: { quality_gates: [], compliance_checks: [], passed: true },
    acceptance_criteria: { "It works: always": true },
    error: null,
    note: null,
    projections: { comment_id: 7, pull_request: null, branch_head: null },
    pause: null,
    recovery_info: { can_resume: false, resume_from: null, prerequisites_met: true, warnings: [] },
    metadata: {},
    ...changes,
  };
}

const withBody = (body: string) => aCheckpoint({ issue_snapshot: { ...aCheckpoint().issue_snapshot, body } });
const roundTrip = (checkpoint: Checkpoint) => decodeCheckpoint(Buffer.from(encodeCheckpoint(checkpoint)));
const signed = (content: string) =>
  `${content}content_sha256: ${createHash("sha256").update(content).digest("hex")}\n`;

function refusal(bytes: Buffer | string, options?: { maxBytes: number }): CrunchError {
  try {
    decodeCheckpoint(bytes, options);
  } catch (error) {
    if (error instanceof CrunchError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("a checkpoint's file", () => {
  it("ends with the hash of every byte before its last line", () => {
    const text = encodeCheckpoint(aCheckpoint());
    const at = text.lastIndexOf("content_sha256: ");
    expect(text.slice(at)).toMatch(/^content_sha256: [0-9a-f]{64}\n$/);
    expect(text.slice(at)).toContain(createHash("sha256").update(text.slice(0, at)).digest("hex"));
  });

  it("has the schema's order of keys, whatever order it was built in", () => {
    const reversed = Object.fromEntries(Object.entries(aCheckpoint()).reverse()) as Checkpoint;
    expect(encodeCheckpoint(reversed)).toBe(encodeCheckpoint(aCheckpoint()));
    expect(encodeCheckpoint(reversed)).toMatch(/^checkpoint_id: CP-enrich-20250114-a3f2\nversion: "1.1"\n/);
  });

  it("shows a body of several lines as lines", () => {
    expect(encodeCheckpoint(aCheckpoint())).toContain("body: |\n    First line\n\n    - [ ] a task\n");
  });

  it.each([
    "",
    " ",
    "\n",
    "\n\n",
    "a\n\n",
    "a\r\nb\r\n",
    "a \nb",
    " a\nb",
    "a\n b\n  c",
    "a\n\tb",
    "a\n \n",
    "a\n---\nb\n...\n",
    "content_sha256: 00\n",
    "# no comment",
    "a # b",
    "a: b",
    "- a",
    "? a",
    "yes",
    "No",
    "null",
    "~",
    "true",
    "1.0",
    "1e3",
    "0x1f",
    ".inf",
    "2025-01-14",
    "2025-01-14T10:00:00Z",
    "12:30:45",
    "&a",
    "*a",
    "!a",
    "%a",
    "@a",
    "`a`",
    "<<",
    "=",
    "a\u2028b\u2029c",
    "a\u0085b",
    "\ufeffa",
    "a\u0000b\u0007\u001b[31m",
    "\ud800",
    "a\n\udc00 lone\n",
    "😀\nb",
    "\u202eright to left",
    "x".repeat(200_000),
    `${"word ".repeat(40_000)}end`,
    "[".repeat(100_000),
  ])("keeps the text %j exactly, as value and as key", (text) => {
    const checkpoint = { ...withBody(text), metadata: { [text]: text, list: [text, { [text]: [text] }] } };
    expect(roundTrip(checkpoint)).toStrictEqual(checkpoint);
  });

  it("keeps any text exactly", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "grapheme" }),
      fc.string({
        unit: fc.constantFrom(..." \t\n\r:#-?|>&*!%'\"\\[]{},a1\u2028\u0085\ud800\u0000".split("")),
      }),
      fc.string({ unit: fc.constantFrom("a", " ", "\n", "\t", "-", "#") }),
    );
    const check = (body: string) => {
      expect(roundTrip(withBody(body)).issue_snapshot.body).toBe(body);
    };
    fc.assert(fc.property(text, check), { numRuns: 1500 });
  });

  it("keeps any checkpoint exactly", () => {
    const text = fc.string({ unit: fc.constantFrom(..."ab:#- \n\t\r'\"\\é\u2028".split("")) });
    const key = fc.oneof(text, fc.constantFrom("constructor", "toString", "1", "yes"));
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.constantFrom(null, true, false),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        text,
        fc.array(tie("value")),
        fc.dictionary(key, tie("value"), { noNullPrototype: true }),
      ),
    })).value;
    const dictionary = <T>(value: fc.Arbitrary<T>) => fc.dictionary(key, value, { noNullPrototype: true });
    const checkpoint = fc
      .record({
        note: fc.option(text),
        session_id: text,
        metadata: dictionary(json),
        acceptance_criteria: dictionary(fc.boolean()),
        artifacts: dictionary(
          fc.record({
            path: fc.constantFrom("spec.md", "a/b c.md", "é#: x.md"),
            hash: fc.constant("0".repeat(64)),
            size_bytes: fc.nat(),
          }),
        ),
        error: fc.option(fc.record({ code: text, message: text, hint: text })),
        agent_outputs: dictionary(
          dictionary(
            fc.record({
              completed_at: fc.constant(time),
              output_summary: text,
              output_location: fc.option(text),
            }),
          ),
        ),
        files_modified: fc.array(
          fc.record({ path: text, status: fc.constantFrom("added", "deleted"), staged: fc.boolean() }),
        ),
      })
      .map(
        (changes) => JSON.parse(JSON.stringify(aCheckpoint(changes as Partial<Checkpoint>))) as Checkpoint,
      );
    fc.assert(
      fc.property(checkpoint, (one) => {
        // vitest's own comparison takes a key named `constructor` for the object's class.
        deepStrictEqual(roundTrip(one), { ...one, recovery_info: recoveryInfo(one) });
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    "../x",
    "a/../../x",
    "/etc/passwd",
    ".git/config",
    "a/.GIT/hooks/x",
    "a\\b",
    "a\nb",
    "a//b",
    "./a",
    "",
  ])("is refused when it was forged to lead elsewhere: %j", (path) => {
    const file = { path, hash: "0".repeat(64), size_bytes: 1 };
    const partial = { ...file, mode: "100644", status: "added" } as const;
    expect(() => encodeCheckpoint(aCheckpoint({ artifacts: { x: file } }))).toThrow(/stays inside/);
    expect(() => encodeCheckpoint(aCheckpoint({ partial_work: [partial] }))).toThrow(/stays inside/);
  });

  it("keeps numbers exactly", () => {
    const numbers = [0, -0, 1e21, 1e-7, 0.1, -1.5, 2 ** 53, 123456789012345680000, 5e-324, 1.7e308];
    expect(roundTrip(aCheckpoint({ metadata: { numbers } })).metadata).toStrictEqual({ numbers });
  });

  it("keeps keys longer than YAML's limit for plain keys", () => {
    const metadata = { ["k".repeat(5000)]: { ["l".repeat(1024)]: ["x", { ["m".repeat(2000)]: {} }] } };
    expect(roundTrip(aCheckpoint({ metadata })).metadata).toStrictEqual(metadata);
  });

  it("takes a few milliseconds with a body of 64 KB", () => {
    const lines = withBody("a line of an issue's body, with words\n".repeat(1725));
    const crlf = withBody("a line of an issue's body, with words\r\n".repeat(1680));
    for (const checkpoint of [lines, crlf]) {
      encodeCheckpoint(checkpoint);
      const start = performance.now();
      for (let round = 0; round < 10; round += 1) encodeCheckpoint(checkpoint);
      expect((performance.now() - start) / 10).toBeLessThan(20);
    }
  });
});

describe("a checkpoint's file that is not as it was written", () => {
  it("is refused for any single flipped bit", () => {
    const file = Buffer.from(encodeCheckpoint(aCheckpoint()));
    for (let at = 0; at < file.length; at += 1) {
      const flipped = Buffer.from(file);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(refusal(flipped).code).toMatch(/^checkpoint_(?:hash|truncated)$/);
    }
  });

  it("is refused when it was cut anywhere", () => {
    const file = Buffer.from(encodeCheckpoint(aCheckpoint()));
    for (let length = 0; length < file.length; length += 1) {
      expect(refusal(file.subarray(0, length)).code).toBe("checkpoint_truncated");
    }
  });

  it("is refused when something was appended", () => {
    const text = encodeCheckpoint(aCheckpoint());
    expect(refusal(`${text}\n`).code).toBe("checkpoint_truncated");
    expect(refusal(text + text.slice(-81)).code).toMatch(/^checkpoint_/);
  });

  it("is refused by size before anything else is looked at", () => {
    expect(refusal(Buffer.alloc(maxCheckpointBytes + 1)).code).toBe("checkpoint_too_large");
    expect(refusal(encodeCheckpoint(aCheckpoint()), { maxBytes: 100 }).code).toBe("checkpoint_too_large");
  });

  it.each([
    ["an alias bomb", "a: &a [x]\nb: [*a]\n"],
    ["deep nesting", `a: ${"[".repeat(100_000)}\n`],
    ["a duplicate key", "a: 1\na: 2\n"],
    ["the key __proto__", "__proto__: 1\n"],
    ["a list", "- a\n"],
    ["missing fields", 'version: "1.1"\n'],
  ])("is refused with %s, even if its hash is right", (_name, content) => {
    expect(refusal(signed(content))).toMatchObject({ code: "checkpoint_invalid", hint: expect.any(String) });
  });

  it("is refused with an unknown field or an id that is a path, even if its hash is right", () => {
    const text = encodeCheckpoint(aCheckpoint());
    const content = text.slice(0, text.lastIndexOf("content_sha256"));
    expect(refusal(signed(`${content}surprise: 1\n`)).code).toBe("checkpoint_invalid");
    const forged = content.replace("CP-enrich-20250114-a3f2", '"../../.github/workflows/x"');
    expect(refusal(signed(forged)).code).toBe("checkpoint_invalid");
  });

  it("of a later version asks to update Crunch", () => {
    const error = refusal(signed('version: "2.0"\nwhatever: 1\n'));
    expect(error.code).toBe("checkpoint_version");
    expect(error.hint).toContain("Update Crunch");
  });
});

describe("a checkpoint that could not be read again", () => {
  const code = (metadata: unknown) => {
    try {
      encodeCheckpoint(aCheckpoint({ metadata: metadata as Checkpoint["metadata"] }));
    } catch (error) {
      return (error as CrunchError).code;
    }
    return "encoded";
  };

  it("is not written", () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(code(circular)).toBe("checkpoint_invalid");
    expect(code({ deep: nested(100) })).toBe("checkpoint_invalid");
    expect(code(JSON.parse('{"__proto__": 1}'))).toBe("checkpoint_invalid");
    expect(code({ number: Number.POSITIVE_INFINITY })).toBe("checkpoint_invalid");
    for (let levels = 1; levels < 80; levels += 1) {
      if (code({ deep: nested(levels) }) !== "encoded") continue;
      expect(roundTrip(aCheckpoint({ metadata: { deep: nested(levels) } })).metadata).toBeDefined();
    }
  });
});
