import { describe, expect, it } from "vitest";
import { parseRepoConfig } from "../../src/config/parse-config.js";
import { RepoConfig } from "../../src/config/schema.js";

function configOf(text: string): RepoConfig {
  const result = parseRepoConfig(text);
  if (result.status === "invalid") throw new Error(JSON.stringify(result.problems));
  return result.config;
}

function problemsOf(text: string, options = {}) {
  const result = parseRepoConfig(text, undefined, options);
  return result.status === "invalid" ? result.problems : [];
}

const messagesOf = (text: string) => problemsOf(text).map(({ path, message }) => `${path}: ${message}`);

const full = `version: 1
workflow: crunch
advance: manual
approval: required
agent: builder
agents:
  builder:
    command: [node, tools/agent.mjs]
    timeout: 45m
    env: { MODE: fast, LEVEL: 3, DRY: true }
    pass_env: [ANTHROPIC_API_KEY]
branch: work/{issue}-{slug}
checkpoint: { storage: { branch: checkpoints } }
max_attempts: 5
protected_paths: ["infra/**"]
phases:
  enrich:
    agent: builder
    timeout: 10m
    writes: ["docs/**"]
    gates:
      - { type: output, path: spec.md }
      - { type: command, name: tests, command: [npm, test], timeout: 90 }
`;

describe("a repo's configuration", () => {
  it("has a default for everything", () => {
    const defaults = configOf("");
    expect(RepoConfig.parse({})).toEqual(defaults);
    const phase = { agent: null, timeoutMs: null, writes: ["**"], gates: [] };
    expect(defaults).toEqual({
      version: 1,
      workflow: { kind: "preset", name: "crunch" },
      projectType: null,
      include: [],
      advance: "auto",
      approval: "none",
      agent: null,
      agents: {},
      branch: "feature/issue-{issue}-{slug}",
      checkpoint: null,
      maxAttempts: 3,
      protectedPaths: [".github/**", ".claude/**", ".git/**", ".github/workflows/**", ".github/crunch.yml"],
      phases: { enrich: phase, implementing: phase, validation: phase, docs: phase },
    });
  });

  it("has gates on the notes of agents", () => {
    const gatesOf = (gate: string) => configOf(`phases: { docs: { gates: [${gate}] } }`).phases.docs?.gates;
    expect(gatesOf("{ type: notes, roles: [builder], sections: [Patterns Discovered] }")).toEqual([
      { type: "notes", name: "notes", roles: ["builder"], sections: ["Patterns Discovered"] },
    ]);
    expect(gatesOf("{ type: notes, name: told, roles: [a, b], step: reflection }")).toEqual([
      { type: "notes", name: "told", roles: ["a", "b"], sections: [], step: "reflection" },
    ]);
    const wrong = (gate: string) => messagesOf(`phases: { docs: { gates: [${gate}] } }`);
    expect(wrong("{ type: notes, roles: [a] }")).toEqual([
      "phases.docs.gates[0]: expected `sections`, a `step` or both: else there is nothing to look for in the notes.",
    ]);
    expect(wrong("{ type: notes, roles: [], step: x }")).toEqual([
      "phases.docs.gates[0].roles: expected a list with at least one item, found an empty list.",
    ]);
  });

  it("is read with durations in milliseconds and gates with names", () => {
    const config = configOf(full);
    expect(config.agents.builder).toEqual({
      command: ["node", "tools/agent.mjs"],
      timeoutMs: 2_700_000,
      env: { MODE: "fast", LEVEL: "3", DRY: "true" },
      passEnv: ["ANTHROPIC_API_KEY"],
    });
    expect(config.phases.enrich).toEqual({
      agent: "builder",
      timeoutMs: 600_000,
      writes: ["docs/**"],
      gates: [
        { type: "output", name: "spec.md", path: "spec.md" },
        { type: "command", name: "tests", command: ["npm", "test"], timeoutMs: 90_000 },
      ],
    });
  });

  it("can't unprotect the files that decide what runs", () => {
    expect(configOf("protected_paths: []\n").protectedPaths).toEqual([
      ".github/workflows/**",
      ".github/crunch.yml",
      ".git/**",
    ]);
  });

  it("gives fresh defaults each time, so that one run can't change another's", () => {
    expect(configOf("").phases.enrich?.writes).not.toBe(configOf("").phases.docs?.writes);
  });
});

describe("the workflow of a repo", () => {
  it("is one that comes with Crunch, by its name", () => {
    const config = configOf("workflow: orchestrator\nproject_type: ml\ninclude: [security]\n");
    expect(config).toMatchObject({
      workflow: { kind: "preset", name: "orchestrator" },
      projectType: "ml",
      include: ["security"],
      phases: {},
    });
  });

  it("is a file of the repo, which no agent may change", () => {
    const config = configOf("workflow: .github/flows/release.yaml\nprotected_paths: []\n");
    expect(config.workflow).toEqual({ kind: "file", path: ".github/flows/release.yaml" });
    expect(config.protectedPaths).toContain(".github/flows/release.yaml");
  });

  it("is written right there", () => {
    const { workflow } = configOf(
      "workflow: { phases: { plan: { next: done }, done: { type: terminal } } }\n",
    );
    expect(workflow).toMatchObject({
      kind: "inline",
      shape: { name: "custom", first: "plan" },
      phases: { plan: { agent: null, timeoutMs: null, writes: ["**"], gates: [] } },
    });
  });

  it("has its problems told where they are", () => {
    const text = `agents: { builder: { command: [x] } }
workflow:
  phases:
    plan: { agent: bilder, next: review }
    review:
      type: consensus
      voters: { qa: { agent: builder }, security: { agent: guard } }
      next: done
    done: { type: terminal }
phases:
  plam: {}
`;
    expect(problemsOf(text)).toMatchObject([
      {
        ...{ line: 4, column: 13, path: "workflow.phases.plan.agent" },
        message: 'expected the name of an agent under `agents`, found "bilder". Did you mean "builder"?',
      },
      { line: 7, column: 53, path: "workflow.phases.review.voters.security.agent" },
      {
        ...{ line: 11, column: 3, path: "phases.plam" },
        message: 'the key "plam" is not known here. Did you mean "plan"?',
      },
    ]);
    expect(
      problemsOf("workflow:\n  phases:\n    plan: { next: dome }\n    done: { type: terminal }\n"),
    ).toEqual([
      {
        file: ".github/crunch.yml",
        line: 3,
        column: 13,
        path: "workflow.phases.plan.next",
        message: 'expected the name of a phase, found "dome". Did you mean "done"?',
      },
    ]);
  });

  it("has gates with names of their own, also beside those of `phases`", () => {
    const gates = "gates: [{ type: output, path: spec.md }]";
    const text = `workflow:
  phases:
    plan: { ${gates}, next: build }
    build: { next: done }
    done: { type: terminal }
phases:
  build: { ${gates} }
`;
    expect(problemsOf(text)).toMatchObject([{ line: 7, path: "phases.build.gates[0]" }]);
    expect(problemsOf(text.replace("  build: { gates", "  plan: { gates"))).toEqual([]);
  });

  it("has only the phases that it has", () => {
    const text = "workflow: flow.yml\nphases: { bild: {}, plan: {} }\n";
    expect(problemsOf(text, { phases: ["plan", "build"] })).toMatchObject([
      {
        ...{ line: 2, column: 11, path: "phases.bild" },
        message: 'the key "bild" is not known here. Did you mean "build"?',
      },
    ]);
  });
});

describe("a problem in a repo's configuration", () => {
  it("is told with file, line, column and path", () => {
    expect(problemsOf("advance: auto\nphases:\n  enrich:\n    timout: 10m\n")).toEqual([
      {
        file: ".github/crunch.yml",
        line: 4,
        column: 5,
        path: "phases.enrich.timout",
        message: 'the key "timout" is not known here. Did you mean "timeout"?',
      },
    ]);
  });

  it("is one of several, and all are told", () => {
    expect(messagesOf("advnce: auto\napproval: maybe\nmax_attempts: 11\nzzz: 1\n").sort()).toEqual([
      'advnce: the key "advnce" is not known here. Did you mean "advance"?',
      'approval: expected "none" or "required", found the text "maybe".',
      "max_attempts: expected 10 or less, found the number 11.",
      expect.stringMatching(/^zzz: the key "zzz" is not known here\. Known keys: version, workflow, /),
    ]);
  });

  it("in the YAML itself is a problem too", () => {
    expect(problemsOf("a: [1\n")).toMatchObject([{ line: expect.any(Number), path: "" }]);
    expect(problemsOf("advance: auto\nadvance: manual\n")).toMatchObject([
      { line: 2, column: 1, message: 'the key "advance" appears twice.' },
    ]);
    expect(problemsOf("agents: &a {}\n")).toHaveLength(1);
    expect(problemsOf(`x: ${"y".repeat(300_000)}`)).toHaveLength(1);
  });

  it.each([
    ["- a\n", ": expected a map, found a list."],
    ["just text\n", ': expected a map, found the text "just text".'],
    ["advance: automatic\n", 'advance: expected "auto" or "manual", found the text "automatic".'],
    [
      "advance: manul\n",
      'advance: expected "auto" or "manual", found the text "manul". Did you mean "manual"?',
    ],
    [
      "workflow: dev\n",
      'workflow: expected "crunch", "orchestrator", "dev-loop", the path of a .yml file, or a map, found the text "dev".',
    ],
    [
      "workflow: orchestrater\n",
      'workflow: expected "crunch", "orchestrator", "dev-loop", the path of a .yml file, or a map, found the text "orchestrater". Did you mean "orchestrator"?',
    ],
    [
      "workflow: 3\n",
      'workflow: expected "crunch", "orchestrator", "dev-loop", the path of a .yml file, or a map, found the number 3.',
    ],
    ["workflow: ../flow.yml\n", "workflow: expected a path inside the repository: no . and no .. in it."],
    [
      "workflow: /flow.yml\n",
      "workflow: expected a path inside the repository of letters, digits, dots, - and _, such as .github/flow.yml.",
    ],
    ["project_type: ml\n", "project_type: `project_type` is only for `workflow: orchestrator`."],
    ["workflow: dev-loop\ninclude: [docs]\n", "include: `include` is only for `workflow: orchestrator`."],
    [
      "workflow: orchestrator\nproject_type: mll\n",
      'project_type: expected "analytics", "ml", "webapp" or "optimization", found the text "mll". Did you mean "ml"?',
    ],
    [
      "workflow: orchestrator\nphases: { Plan: {} }\n",
      "phases.Plan: this name is not allowed: a phase has lower-case letters, digits, - and _, begins with a letter and ends with no dash.",
    ],
    [
      "checkpoint: { checkpoint_triggers: { every_n_events: often } }\n",
      'checkpoint.checkpoint_triggers.every_n_events: expected a number or false, found the text "often".',
    ],
    ["version: 2\n", "version: expected 1, found the number 2."],
    ["max_attempts: many\n", 'max_attempts: expected a number, found the text "many".'],
    ["max_attempts: 0\n", "max_attempts: expected 1 or more, found the number 0."],
    ["max_attempts: 1.5\n", "max_attempts: expected a whole number, found the number 1.5."],
    ["agents:\n", "agents: expected a map, found nothing."],
    [
      "agents: { a: { command: node tools/agent.mjs --fast } }\n",
      'agents.a.command: expected a list of words, found the text "node tools/agent.mjs --fast". Write it as a list: [node, tools/agent.mjs, "--fast"]',
    ],
    [
      "agents: { a: { command: [] } }\n",
      "agents.a.command: expected a list with at least one item, found an empty list.",
    ],
    ["agents: { a: { command: [sleep, 5] } }\n", "agents.a.command[1]: expected text, found the number 5."],
    ["agents: { a: {} }\n", "agents.a.command: expected a list, but it is missing."],
    [
      "agents: { a: { command: [x], timeout: soon } }\n",
      'agents.a.timeout: expected a duration such as 30s, 10m or 2h, found the text "soon".',
    ],
    [
      "agents: { a: { command: [x], timeout: 6h } }\n",
      'agents.a.timeout: expected a duration between 1s and 5h, found the text "6h".',
    ],
    [
      "agents: { a: { command: [x], timeout: 0 } }\n",
      "agents.a.timeout: expected a duration between 1s and 5h, found the number 0.",
    ],
    [
      "phases: { enrich: { gates: [{ type: comand, name: a }] } }\n",
      'phases.enrich.gates[0].type: expected "command", "output" or "notes", found the text "comand". Did you mean "command"?',
    ],
    [
      "phases: { enrich: { gates: [{ name: a }] } }\n",
      'phases.enrich.gates[0].type: expected "command", "output" or "notes", but it is missing.',
    ],
    [
      "phases: { enrich: { gates: [{ type: command, command: [npm, test] }] } }\n",
      "phases.enrich.gates[0].name: expected text, but it is missing.",
    ],
    ["phases: { enrch: {} }\n", 'phases.enrch: the key "enrch" is not known here. Did you mean "enrich"?'],
    [
      "branch: fix-{isue}\n",
      "branch: expected {issue} or {slug} in braces, found {isue}. Did you mean issue?",
    ],
    [
      "branch: fix-{slug}\n",
      "branch: expected a name with {issue}, so that two issues never share a branch.",
    ],
    ["branch: a b-{issue}\n", 'branch: expected the name of a git branch, found the text "a b-{issue}".'],
    [
      "checkpoint: { storage: { branch: ../x } }\n",
      'checkpoint.storage.branch: expected the name of a git branch, found the text "../x".',
    ],
  ])("in %j is told in plain English", (text, message) => {
    expect(messagesOf(text)).toContain(message);
  });

  it.each([
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "github_token",
    "ACTIONS_RUNTIME_TOKEN",
    "INPUT_TOKEN",
    "PRIVATE_KEY",
  ])("is handing %s to an agent", (name) => {
    const [message] = messagesOf(`agents: { a: { command: [x], pass_env: [${name}] } }\n`);
    expect(message).toContain(`agents.a.pass_env[0]: ${name} is not handed to agents`);
  });

  it.each(["../x", "/etc/passwd", "a/../b", "a\\\\b", "C:/x", "", "a//b", "./a", "docs/"])(
    "is an output path %j outside the issue's folder",
    (path) => {
      expect(problemsOf(`phases: { enrich: { gates: [{ type: output, path: "${path}" }] } }\n`)).toHaveLength(
        1,
      );
    },
  );

  it("is a gate name used twice, in whatever phases", () => {
    const text = `phases:
  enrich: { gates: [{ type: output, path: spec.md }] }
  docs: { gates: [{ type: command, name: spec.md, command: [x] }] }
`;
    expect(problemsOf(text)).toMatchObject([
      { line: 3, path: "phases.docs.gates[0]", message: expect.stringContaining('"spec.md" is used twice') },
    ]);
  });

  it("is a gate name that is no check name", () => {
    expect(
      problemsOf("phases: { docs: { gates: [{ type: command, name: Tests!, command: [x] }] } }\n"),
    ).toHaveLength(1);
  });

  it("is an agent that is not defined, unless agents are defined elsewhere", () => {
    const text =
      "agent: bilder\nagents: { builder: { command: [x] } }\nphases: { docs: { agent: writer } }\n";
    expect(messagesOf(text)).toEqual([
      'agent: expected the name of an agent under `agents`, found "bilder". Did you mean "builder"?',
      'phases.docs.agent: expected the name of an agent under `agents`, found "writer". Agents there: builder.',
    ]);
    expect(problemsOf(text, { agentsElsewhere: true })).toEqual([]);
    expect(problemsOf("agent: constructor\n")).toHaveLength(1);
  });

  it("is a name that would reach an object's prototype", () => {
    expect(problemsOf("agents: { __proto__: { command: [x] } }\n")).toHaveLength(1);
  });
});
