import { describe, expect, it } from "vitest";
import { type EventOptions, parseEvent, trustedBots } from "../../../src/adapters/github/events.js";

const options: EventOptions = { ownLogin: "crunch[bot]", allowedBots: ["helper[bot]"], runId: 99 };
const updated_at = "2025-01-14T10:00:00Z";
const mona = { login: "mona", type: "User" };

function anIssuesPayload(action: string, changes: object = {}, issue: object = {}) {
  return {
    action,
    issue: { number: 42, updated_at, labels: [{ name: "bug" }, { name: "state:enrich" }], ...issue },
    label: { name: "state:enrich" },
    sender: mona,
    ...changes,
  };
}

function aCommentPayload(body: string | null, { action = "created", user = mona, issue = {} } = {}) {
  return {
    action,
    issue: { number: 42, updated_at, labels: [], ...issue },
    comment: { id: 1001, body, user },
    sender: user,
  };
}

const parse = (name: string, payload: unknown, changes: Partial<EventOptions> = {}) =>
  parseEvent(name, payload, { ...options, ...changes });
const event = (event: object) => ({ status: "event", event });
const ignored = (reason: string) => ({ status: "ignored", reason });
const command = (command: object) =>
  event({ kind: "command", issue: 42, actor: "mona", commentId: 1001, key: "comment:1001", command });

describe("a label", () => {
  it("that was added asks for its phase, in the name of who added it", () => {
    expect(parse("issues", anIssuesPayload("labeled"))).toEqual(
      event({
        kind: "labeled",
        issue: 42,
        actor: "mona",
        label: "state:enrich",
        key: `label:state:enrich@${updated_at}`,
      }),
    );
  });

  it("that was taken off is told apart from one that was added at the same time", () => {
    expect(parse("issues", anIssuesPayload("unlabeled"))).toEqual(
      event({
        kind: "unlabeled",
        issue: 42,
        actor: "mona",
        label: "state:enrich",
        key: `unlabel:state:enrich@${updated_at}`,
      }),
    );
  });

  it("that an issue was opened with is the same event as GitHub's own one for the label", () => {
    const opened = parse("issues", anIssuesPayload("opened", { label: undefined }));
    expect(opened).toEqual(parse("issues", anIssuesPayload("labeled")));
  });

  it("from an issue template is asked for by whoever opened the issue", () => {
    const sender = { login: "outsider", type: "User" };
    expect(parse("issues", anIssuesPayload("opened", { label: undefined, sender }))).toMatchObject({
      event: { kind: "labeled", actor: "outsider" },
    });
  });

  it.each([
    ["another label", anIssuesPayload("labeled", { label: { name: "bug" } }), "not about a state label"],
    [
      "a label with state in it",
      anIssuesPayload("labeled", { label: { name: "my-state:x" } }),
      "not about a state label",
    ],
    ["an issue opened without", anIssuesPayload("opened", {}, { labels: [] }), "not about a state label"],
    ["an edit", anIssuesPayload("edited", { label: undefined }), "not about a state label"],
    [
      "a label on a pull request",
      anIssuesPayload("labeled", {}, { pull_request: { url: "https://github.test/pulls/42" } }),
      "a pull request, not an issue",
    ],
    [
      "a label of another bot",
      anIssuesPayload("labeled", { sender: { login: "robot[bot]", type: "Bot" } }),
      "robot[bot] is a bot that is not on the allow list",
    ],
    [
      "Crunch's own label",
      anIssuesPayload("labeled", { sender: { login: "crunch[bot]", type: "Bot" } }),
      "Crunch did that itself",
    ],
  ])("is no event: %s", (_, payload, reason) => {
    expect(parse("issues", payload)).toEqual(ignored(reason));
  });
});

describe("a comment", () => {
  it("with a command is one, by who wrote it, and the same however often it is delivered", () => {
    expect(parse("issue_comment", aCommentPayload("/crunch"))).toEqual(command({ name: "run" }));
    expect(parse("issue_comment", aCommentPayload("/crunch --checkpoint a note"))).toEqual(
      command({ name: "checkpoint", note: "a note" }),
    );
  });

  it("with a command nobody knows is answered too", () => {
    expect(parse("issue_comment", aCommentPayload("/crunch dance"))).toEqual(
      event({
        kind: "bad_command",
        issue: 42,
        actor: "mona",
        commentId: 1001,
        key: "comment:1001",
        problem: "there is no command `dance`",
      }),
    );
  });

  it.each([
    [
      "edited into a command",
      aCommentPayload("/crunch", { action: "edited" }),
      "a comment was edited; only new ones count",
    ],
    [
      "deleted",
      aCommentPayload("/crunch", { action: "deleted" }),
      "a comment was deleted; only new ones count",
    ],
    ["with a command in a quote", aCommentPayload("> /crunch"), "no command in this comment"],
    ["with a command in a code block", aCommentPayload("```\n/crunch\n```"), "no command in this comment"],
    ["without text", aCommentPayload(null), "no command in this comment"],
    [
      "of Crunch itself, whatever it quotes",
      aCommentPayload("/crunch", { user: { login: "crunch[bot]", type: "Bot" } }),
      "Crunch did that itself",
    ],
    [
      "of Crunch under a person's name",
      aCommentPayload("/crunch", { user: { login: "crunch[bot]", type: "User" } }),
      "Crunch did that itself",
    ],
    [
      "of another app",
      aCommentPayload("/crunch", { user: { login: "robot[bot]", type: "Bot" } }),
      "robot[bot] is a bot that is not on the allow list",
    ],
    [
      "of a bot that says it is a person",
      aCommentPayload("/crunch", { user: { login: "robot[bot]", type: "User" } }),
      "robot[bot] is a bot that is not on the allow list",
    ],
    [
      "of a bot without the suffix",
      aCommentPayload("/crunch", { user: { login: "robot", type: "Bot" } }),
      "robot is a bot that is not on the allow list",
    ],
  ])("is ignored: %s", (_, payload, reason) => {
    expect(parse("issue_comment", payload)).toEqual(ignored(reason));
  });

  it("that a bot wrote but a person sent is ignored as well", () => {
    const payload = {
      ...aCommentPayload("/crunch", { user: { login: "robot[bot]", type: "Bot" } }),
      sender: mona,
    };
    expect(parse("issue_comment", payload).status).toBe("ignored");
  });

  it("that a person wrote but a bot sent is ignored as well", () => {
    const payload = { ...aCommentPayload("/crunch"), sender: { login: "robot[bot]", type: "Bot" } };
    expect(parse("issue_comment", payload).status).toBe("ignored");
  });

  it("of a bot on the allow list counts", () => {
    const helper = { login: "helper[bot]", type: "Bot" };
    expect(parse("issue_comment", aCommentPayload("/crunch", { user: helper }))).toMatchObject({
      event: { kind: "command", actor: "helper[bot]" },
    });
  });
});

describe("a dispatch", () => {
  const dispatch = (inputs: object) => parse("workflow_dispatch", { inputs, sender: mona });

  it.each([
    [{ issue: "42" }, { name: "run" }],
    [{ issue: 42, command: "" }, { name: "run" }],
    [{ issue: " 42 ", command: " status " }, { name: "status" }],
    [{ issue: "42", command: "/crunch status" }, { name: "status" }],
    [
      { issue: "42", command: "--checkpoint a note" },
      { name: "checkpoint", note: "a note" },
    ],
  ])("with %j is a command", (inputs, expected) => {
    expect(dispatch(inputs)).toEqual(
      event({
        kind: "command",
        issue: 42,
        actor: "mona",
        commentId: null,
        key: "dispatch:99",
        command: expected,
      }),
    );
  });

  it.each(["sweep", " sweep ", "/crunch sweep"])(
    "with the command %j and no issue looks for all runs",
    (command) => {
      expect(dispatch({ command })).toEqual({ status: "sweep" });
      expect(dispatch({ issue: "", command })).toEqual({ status: "sweep" });
    },
  );

  it("made by Crunch itself counts: that is how the next job is started", () => {
    const inputs = { issue: "42", command: "resume" };
    const made = parse("workflow_dispatch", { inputs, sender: { login: "crunch[bot]", type: "Bot" } });
    expect(made).toMatchObject({
      event: { kind: "command", command: { name: "resume" }, actor: "crunch[bot]" },
    });
  });

  it("with a command nobody knows is refused like a comment", () => {
    expect(dispatch({ issue: "42", command: "dance" })).toMatchObject({
      event: { kind: "bad_command", problem: "there is no command `dance`" },
    });
  });

  it.each([["0"], ["-1"], ["1.5"], [""], ["42; rm -rf /"], ["../42"], ["9".repeat(30)]])(
    "for the issue %j is ignored",
    (issue) => {
      expect(dispatch({ issue })).toEqual(ignored("the input `issue` is not an issue number"));
    },
  );
});

describe("any other delivery", () => {
  it.each([["push"], ["pull_request"], ["check_run"], ["constructor"]])("%s is ignored", (name) => {
    expect(parse(name, {})).toEqual(ignored(`Crunch does not react to ${name}`));
  });

  it.each([
    ["issues", {}],
    ["issues", anIssuesPayload("labeled", {}, { number: "42" })],
    ["issues", anIssuesPayload("labeled", {}, { number: -1 })],
    ["issues", anIssuesPayload("labeled", { sender: null })],
    ["issue_comment", anIssuesPayload("created")],
    ["workflow_dispatch", { inputs: { issue: "1" } }],
  ])("%s with a payload of another shape is an error, not an event", (name, payload) => {
    expect(() => parse(name, payload)).toThrow();
  });

  it("a dispatch without inputs is about no issue", () => {
    expect(parse("workflow_dispatch", { sender: mona })).toMatchObject({ status: "ignored" });
  });
});

it("of the bots that are allowed, those count as trusted whose access GitHub can't tell", () => {
  expect(trustedBots(["helper[bot]", "machine-user"])).toEqual(["helper[bot]"]);
});
