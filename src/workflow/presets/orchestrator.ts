import type { PhaseShape, WorkflowShape } from "../shape.js";
import { type PresetOptions, presetError } from "./preset-options.js";
import { type ProjectType, phaseUse, typesWith } from "./project-types.js";

/** A team: plans, agrees on the plan, builds, agrees on the release. Some phases depend on the type of project. */
export function orchestrator(options: PresetOptions): WorkflowShape {
  const all = phasesOf(options.approval);
  checkInclude(Object.keys(all), options);
  const phases = Object.entries(all).map(([name, phase]) => {
    const skip = skipReason(name, options);
    return [name, skip === null || phase.type === "terminal" ? phase : { ...phase, skip }] as const;
  });
  return {
    name: "orchestrator",
    first: "intake",
    phases: Object.fromEntries(phases),
    initial: {},
    // How often the votes may send the work back.
    maxVisits: 5,
    snapshotEvery: 1_000,
  };
}

/** Phases that run at the same time have roles of their own, so that none writes over the notes of another. */
function phasesOf(approval: PresetOptions["approval"]): Readonly<Record<string, PhaseShape>> {
  const people = (prompt: string) => approval === "required" && { people: { needed: 1, prompt } };
  return {
    intake: {
      type: "agent",
      role: "intake",
      does: "gathers what is wanted, and what is known",
      next: ["planning"],
    },
    planning: {
      type: "agent",
      role: "architect",
      does: "makes the plan",
      next: ["data", "arch", "security"],
    },
    data: { type: "agent", role: "data", does: "designs the data", next: ["plan-consensus"] },
    arch: { type: "agent", role: "architect", does: "designs the architecture", next: ["plan-consensus"] },
    security: { type: "agent", role: "security", does: "looks for threats", next: ["plan-consensus"] },
    "plan-consensus": {
      type: "consensus",
      does: "decides whether to build what is planned",
      voters: {
        architect: { does: "looks whether the parts of the plan fit together" },
        developer: { does: "looks whether the plan can be built" },
        qa: { does: "looks whether what the plan promises can be tested" },
      },
      veto: ["architect"],
      ...people("Is the plan right?"),
      next: ["develop"],
      otherwise: "planning",
    },
    develop: { type: "agent", role: "developer", does: "writes the code, with subagents", next: ["qa"] },
    qa: { type: "agent", role: "qa", does: "tests the result, with subagents", next: ["release-consensus"] },
    "release-consensus": {
      type: "consensus",
      does: "decides whether the result is good enough",
      voters: {
        developer: { does: "looks whether the code does what was planned" },
        qa: { does: "looks whether the tests show that it works" },
        reviewer: { does: "looks whether the change can be understood and maintained" },
      },
      ...people("Is the result ready for release?"),
      next: ["docs", "review", "hygiene"],
      otherwise: "develop",
    },
    docs: { type: "agent", role: "docs", does: "writes the documentation", next: ["complete"] },
    review: { type: "agent", role: "reviewer", does: "reviews the whole change", next: ["complete"] },
    hygiene: { type: "agent", role: "hygiene", does: "removes what is left over", next: ["complete"] },
    complete: { type: "terminal" },
  };
}

function skipReason(phase: string, { projectType, include }: PresetOptions): string | null {
  const use = phaseUse(phase, projectType);
  if (use === "runs" || include.includes(phase)) return null;
  if (use === "skipped") return `${projectNamed(projectType)} has no such phase`;
  return `${projectNamed(projectType)} has it only on request: \`include: [${phase}]\``;
}

function checkInclude(phases: readonly string[], { projectType, include }: PresetOptions): void {
  const unknown = include.filter((name) => !phases.includes(name));
  const excluded = include.filter((name) => phaseUse(name, projectType) === "skipped");
  const wrong = [
    ...unknown.map((name) => `${JSON.stringify(name)} is no phase of it`),
    ...excluded.map((name) => `${projectNamed(projectType)} has no \`${name}\``),
  ];
  if (wrong.length === 0) return;
  const onRequest = phases.filter((name) => phaseUse(name, projectType) === "on request");
  const list = onRequest.map((name) => `\`${name}\``).join(", ") || "none";
  const elsewhere = excluded.map((name) => ` \`${name}\` is for ${typesWith(name).join(", ")}.`).join("");
  throw presetError(
    `The workflow "orchestrator" can't have all that \`include\` names: ${wrong.join("; ")}.`,
    `Take it out of \`include\`. Phases on request are here: ${list}.${elsewhere}`,
  );
}

function projectNamed(type: ProjectType | null): string {
  if (type === null) return "a project without a type";
  return `${/^[aeiou]/.test(type) ? "an" : "a"} ${type} project`;
}
