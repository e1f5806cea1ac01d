import { describe, expect, it } from "vitest";
import { CrunchError } from "../../src/errors.js";
import { graphProblems, orderOf } from "../../src/workflow/graph.js";
import { type PresetOptions, type ProjectType, presets } from "../../src/workflow/presets/index.js";
import { phaseUse, projectTypes } from "../../src/workflow/presets/project-types.js";
import type { WorkflowShape } from "../../src/workflow/shape.js";
import { graphOfShape } from "../../src/workflow/shape-graph.js";

const plain: PresetOptions = { approval: "none", projectType: null, include: [] };
const types: readonly (ProjectType | null)[] = [null, "analytics", "ml", "webapp", "optimization"];
const everyPreset: readonly [string, (options: PresetOptions) => WorkflowShape][] = Object.entries(presets);

/** Why each phase is left out, by name. */
function skipsIn(shape: WorkflowShape): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(shape.phases).flatMap(([name, phase]) =>
      phase.type !== "terminal" && phase.skip !== undefined ? [[name, phase.skip]] : [],
    ),
  );
}

function refusalOf(make: () => unknown): { code: string; message: string; hint: string } {
  try {
    make();
  } catch (error) {
    if (error instanceof CrunchError) return { code: error.code, message: error.message, hint: error.hint };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe.each(everyPreset)("the preset %s", (name, preset) => {
  it("has its own name, and a graph that can be run", () => {
    const shape = preset(plain);
    expect(shape.name).toBe(name);
    expect(graphProblems(graphOfShape(shape))).toEqual([]);
  });

  it("is data: nothing is lost in JSON", () => {
    const shape = preset(plain);
    expect(JSON.parse(JSON.stringify(shape))).toEqual(shape);
  });

  it("has phases and gates with names that checkpoints and checks can have", () => {
    const { phases } = preset(plain);
    const gates = Object.values(phases).flatMap((phase) => ("gates" in phase ? (phase.gates ?? []) : []));
    for (const phase of Object.keys(phases)) expect(phase).toMatch(/^[a-z][a-z-]*$/);
    for (const gate of gates) expect(gate.name).toMatch(/^[a-z][a-z ]*$/);
    expect(new Set(gates.map((gate) => gate.name)).size).toBe(gates.length);
  });

  it("has no phases at the same time that go on with the same notes", () => {
    const { phases } = preset(plain);
    for (const phase of Object.values(phases)) {
      if (phase.type === "terminal" || "choices" in phase.next) continue;
      const roles = phase.next.map((name) => {
        const next = phases[name];
        return next?.type === "agent" && next.role !== undefined ? next.role : name;
      });
      expect(new Set(roles).size).toBe(roles.length);
    }
  });
});

describe("crunch", () => {
  it("asks for an approval only where one is required", () => {
    expect(skipsIn(presets.crunch(plain))).toEqual({ ready: "no approval is required in this repo" });
    expect(skipsIn(presets.crunch({ ...plain, approval: "required" }))).toEqual({});
  });

  it("refuses a type of project and phases on request, which it has not", () => {
    expect(refusalOf(() => presets.crunch({ ...plain, projectType: "ml", include: ["qa"] }))).toEqual({
      code: "workflow_invalid",
      message: 'The workflow "crunch" has no types of projects and no phases on request.',
      hint: "Leave out the project type and `include`, or use the workflow `orchestrator`.",
    });
  });
});

describe("orchestrator", () => {
  it("has the canonical graph, and each vote leads back when there is no consensus", () => {
    const graph = graphOfShape(presets.orchestrator(plain));
    const ways = Object.entries(graph.nodes).map(([name, { kind, to }]) => `${name} ${kind} ${to.join(" ")}`);
    expect(ways.map((way) => way.trim())).toEqual([
      "intake fixed planning",
      "planning fixed data arch security",
      "data fixed plan-consensus",
      "arch fixed plan-consensus",
      "security fixed plan-consensus",
      "plan-consensus choice develop planning",
      "develop fixed qa",
      "qa fixed release-consensus",
      "release-consensus choice docs review hygiene develop",
      "docs fixed complete",
      "review fixed complete",
      "hygiene fixed complete",
      "complete terminal",
    ]);
    const order = orderOf(graph);
    expect(order.isBack("plan-consensus", "planning")).toBe(true);
    expect(order.isBack("release-consensus", "develop")).toBe(true);
    expect(order.before.get("complete")).toEqual(expect.arrayContaining(["docs", "review", "hygiene"]));
  });

  it("lets agents vote, and a person too where an approval is required", () => {
    const { phases } = presets.orchestrator(plain);
    const required = presets.orchestrator({ ...plain, approval: "required" }).phases;
    const votersOf = (name: string) => {
      const phase = phases[name];
      return phase?.type === "consensus" ? Object.keys(phase.voters) : [];
    };
    expect(votersOf("plan-consensus")).toEqual(["architect", "developer", "qa"]);
    expect(votersOf("release-consensus")).toEqual(["developer", "qa", "reviewer"]);
    expect(phases["plan-consensus"]).toMatchObject({ veto: ["architect"] });
    for (const name of ["plan-consensus", "release-consensus"]) {
      expect(phases[name]).not.toHaveProperty("people");
      expect(required[name]).toMatchObject({ people: { needed: 1, prompt: expect.stringMatching(/\?$/) } });
    }
  });

  // As the decision record on the phase model has it.
  it.each([
    ["analytics", ["DATA", "DEVELOP", "DOCS"], ["SECURITY"], ["qa"]],
    ["ml", ["DATA", "DEVELOP", "QA", "DOCS"], [], ["security"]],
    ["webapp", ["DEVELOP", "QA", "DOCS", "SECURITY"], ["DATA"], []],
    ["optimization", ["DATA", "DEVELOP", "QA", "DOCS"], [], ["security"]],
  ] as const)(
    "has the row %s: includes %j, excludes %j, and %j on request",
    (type, included, excluded, onRequest) => {
      const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
      expect(projectTypes[type]).toEqual({ included: lower(included), excluded: lower(excluded) });
      const shape = presets.orchestrator({ ...plain, projectType: type });
      const skips = skipsIn(shape);
      const used = (name: string) => (Object.hasOwn(skips, name) ? skips[name] : "runs");
      for (const name of lower(included)) expect(used(name)).toBe("runs");
      for (const name of lower(excluded)) expect(used(name)).toMatch(/ project has no such phase$/);
      for (const name of onRequest)
        expect(used(name)).toMatch(new RegExp(`has it only on request: \`include: \\[${name}\\]\`$`));
      // All the others, which no row names, are part of every type.
      expect(Object.keys(skips).sort()).toEqual([...lower(excluded), ...onRequest].sort());
      const including = presets.orchestrator({ ...plain, projectType: type, include: onRequest });
      expect(Object.keys(skipsIn(including))).toEqual(lower(excluded));
    },
  );

  it("has a row for every type, and only phases that exist", () => {
    expect(Object.keys(projectTypes)).toEqual(types.filter((type) => type !== null));
    const phases = Object.keys(presets.orchestrator(plain).phases);
    for (const { included, excluded } of Object.values(projectTypes))
      for (const name of [...included, ...excluded]) expect(phases).toContain(name);
  });

  it("without a type does everything but security, which is on request", () => {
    expect(skipsIn(presets.orchestrator(plain))).toEqual({
      security: "a project without a type has it only on request: `include: [security]`",
    });
    expect(skipsIn(presets.orchestrator({ ...plain, include: ["security"] }))).toEqual({});
  });

  it.each(types)("has the same graph for the type %s", (projectType) => {
    const shape = presets.orchestrator({ ...plain, projectType });
    expect(graphOfShape(shape)).toEqual(graphOfShape(presets.orchestrator(plain)));
    expect(phaseUse("complete", projectType)).toBe("runs");
  });

  it("takes an include of what runs anyway", () => {
    const shape = presets.orchestrator({ ...plain, projectType: "ml", include: ["qa", "arch"] });
    expect(Object.keys(skipsIn(shape))).toEqual(["security"]);
  });

  it("refuses to include what the type leaves out, and what is no phase", () => {
    const refusal = (projectType: ProjectType | null, ...include: string[]) =>
      refusalOf(() => presets.orchestrator({ ...plain, projectType, include }));
    expect(refusal("webapp", "data")).toEqual({
      code: "workflow_invalid",
      message:
        'The workflow "orchestrator" can\'t have all that `include` names: a webapp project has no `data`.',
      hint: "Take it out of `include`. Phases on request are here: none. `data` is for analytics, ml, optimization.",
    });
    expect(refusal("analytics", "security", "qaa", "constructor")).toEqual({
      code: "workflow_invalid",
      message:
        'The workflow "orchestrator" can\'t have all that `include` names: "qaa" is no phase of it; "constructor" is no phase of it; an analytics project has no `security`.',
      hint: "Take it out of `include`. Phases on request are here: `qa`. `security` is for ml, webapp, optimization.",
    });
    expect(refusal(null, "QA").hint).toBe(
      "Take it out of `include`. Phases on request are here: `security`.",
    );
  });
});

describe("dev-loop", () => {
  const { phases, initial } = presets["dev-loop"](plain);

  it("goes back from the review to the implementation, and else on", () => {
    const graph = graphOfShape(presets["dev-loop"](plain));
    expect(graph.nodes["code-review"]).toEqual({ kind: "choice", to: ["implementation", "reflection"] });
    expect(orderOf(graph).isBack("code-review", "implementation")).toBe(true);
    expect(orderOf(graph).names).toEqual([
      ...["implementation", "validation", "code-review", "reflection", "complete"],
    ]);
  });

  it("begins each round without findings, and keeps those of any reviewer", () => {
    expect(initial).toEqual({ findings: false });
    expect(phases.implementation).toMatchObject({ update: { findings: "false" } });
    expect(phases["code-review"]).toMatchObject({
      update: { findings: "state.findings || output.verdict == 'FINDINGS'" },
      next: {
        choices: [
          { if: "state.findings", to: ["implementation"] },
          { if: null, to: ["reflection"] },
        ],
      },
    });
  });

  it("lets each specialist go on with notes of its own, all at the same time", () => {
    const rolesIn = (name: string) => {
      const phase = phases[name];
      return phase?.type === "tasks"
        ? Object.entries(phase.tasks).map(([task, { role, dependsOn }]) => [task, role, dependsOn])
        : [];
    };
    const reviewers = ["security", "test", "code-reviewer"].map((name) => [name, name, undefined]);
    expect(rolesIn("code-review")).toEqual(reviewers);
    expect(rolesIn("reflection")).toEqual([["implementer", "implementer", undefined], ...reviewers]);
    expect(phases.implementation).toMatchObject({ role: "implementer" });
  });

  it("checks the notes where one step leads to the next, but not after the validation", () => {
    const gates = Object.entries(phases).flatMap(([name, phase]) =>
      "gates" in phase
        ? (phase.gates ?? []).map(({ roles, sections, step }) => [name, roles, sections, step])
        : [],
    );
    const reviewers = ["security", "test", "code-reviewer"];
    expect(gates).toEqual([
      ["implementation", ["implementer"], ["Patterns Discovered", "Gotchas Encountered"], undefined],
      ["code-review", reviewers, ["Observations"], undefined],
      ["reflection", ["implementer", ...reviewers], [], "reflection"],
    ]);
  });

  it("refuses an approval, which nobody would be asked for", () => {
    expect(refusalOf(() => presets["dev-loop"]({ ...plain, approval: "required" }))).toMatchObject({
      code: "workflow_invalid",
      message: expect.stringContaining("asks nobody"),
    });
  });
});
