import { z } from "zod";
import { AgentConfigs, AgentName } from "./agent-config.js";
import { CheckpointConfig } from "./checkpoint-config.js";
import { BranchTemplate, Command, Duration, Glob, OutputPath } from "./fields.js";
import { repeatedGates } from "./repeated-gates.js";
import { workflowChoice } from "./workflow-choice.js";
import { PhaseName, workflowConfig } from "./workflow-schema.js";

export { AgentConfig } from "./agent-config.js";

const defaultGateTimeoutMs = 10 * 60_000;

const GateName = z
  .string()
  .max(80)
  .regex(
    /^[a-z0-9][a-z0-9 ._-]*$/,
    "expected a name of lower-case letters, digits, spaces, dots, - and _, beginning with a letter or digit.",
  );

const CommandGate = z
  .strictObject({
    type: z.literal("command"),
    name: GateName,
    command: Command,
    timeout: Duration.default(defaultGateTimeoutMs),
  })
  .transform(({ type, name, command, timeout }) => ({ type, name, command, timeoutMs: timeout }));

const OutputGate = z
  .strictObject({ type: z.literal("output"), name: GateName.optional(), path: OutputPath })
  .transform(({ type, name, path }) => ({ type, name: name ?? path, path }));

const NotesGate = z
  .strictObject({
    type: z.literal("notes"),
    name: GateName.default("notes"),
    roles: z.array(AgentName).min(1),
    sections: z.array(z.string().trim().min(1).max(200)).default([]),
    step: z.string().trim().min(1).max(200).optional(),
  })
  .refine(
    ({ sections, step }) => sections.length > 0 || step !== undefined,
    "expected `sections`, a `step` or both: else there is nothing to look for in the notes.",
  )
  .transform(({ step, ...gate }) => ({ ...gate, ...(step !== undefined && { step }) }));

export const GateConfig = z.discriminatedUnion("type", [CommandGate, OutputGate, NotesGate]);
export type GateConfig = z.infer<typeof GateConfig>;

/** What a repo may set for one phase. `null` means: as the agent or the workflow has it. */
export const PhaseConfig = z
  .strictObject({
    agent: AgentName.nullable().default(null),
    timeout: Duration.nullable().default(null),
    writes: z.array(Glob).default(["**"]),
    gates: z.array(GateConfig).default([]),
  })
  .transform(({ agent, timeout, writes, gates }) => ({ agent, timeoutMs: timeout, writes, gates }));
export type PhaseConfig = z.infer<typeof PhaseConfig>;

export const WorkflowConfig = workflowConfig(GateConfig);
export type WorkflowConfig = z.infer<typeof WorkflowConfig>;

const Workflow = workflowChoice(WorkflowConfig);
type Workflow = z.infer<typeof Workflow>;

/** The agents' phases of the workflow that a repo has when it names none. */
const crunchPhases = ["enrich", "implementing", "validation", "docs"];

/** Whoever may change these decides what runs next time, so no configuration can unprotect them. */
const alwaysProtected = [".github/workflows/**", ".github/crunch.yml", ".git/**"];

export const RepoConfig = z
  .strictObject({
    version: z.literal(1).default(1),
    workflow: Workflow.prefault("crunch"),
    /** What the project is about, and the phases it wants besides: they make a part of the orchestrator's graph. */
    project_type: z.enum(["analytics", "ml", "webapp", "optimization"]).nullable().default(null),
    include: z.array(PhaseName).default([]),
    advance: z.enum(["auto", "manual"]).default("auto"),
    approval: z.enum(["none", "required"]).default("none"),
    agent: AgentName.nullable().default(null),
    agents: AgentConfigs,
    branch: BranchTemplate.refine(
      (template) => template.includes("{issue}"),
      "expected a name with {issue}, so that two issues never share a branch.",
    ).default("feature/issue-{issue}-{slug}"),
    /** Null where the repo has it in a file of its own, or not at all. */
    checkpoint: CheckpointConfig.nullable().default(null),
    max_attempts: z.number().int().min(1).max(10).default(3),
    protected_paths: z.array(Glob).default([".github/**", ".claude/**", ".git/**"]),
    phases: z.record(PhaseName, PhaseConfig).default({}),
  })
  .superRefine((config, context) => {
    const problem = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    if (config.branch === config.checkpoint?.storage.branch)
      problem(
        ["checkpoint", "storage", "branch"],
        "expected a branch of its own for checkpoints, found the same name as `branch`.",
      );
    if (config.approval === "required" && config.workflow.kind !== "preset")
      problem(
        ["approval"],
        "`approval` is for the presets; a workflow of your own asks with a phase of `type: human`.",
      );
    const isOrchestrator = config.workflow.kind === "preset" && config.workflow.name === "orchestrator";
    const given = { project_type: config.project_type !== null, include: config.include.length > 0 };
    for (const [key, isGiven] of Object.entries(given))
      if (isGiven && !isOrchestrator) problem([key], `\`${key}\` is only for \`workflow: orchestrator\`.`);
    for (const { path, message } of repeatedGates(gatesOf(config))) problem(path, message);
  })
  .transform(({ max_attempts, protected_paths, project_type, phases, ...config }) => ({
    ...config,
    projectType: project_type,
    maxAttempts: max_attempts,
    protectedPaths: [...new Set([...protected_paths, ...alwaysProtected, ...workflowFile(config.workflow)])],
    phases: isCrunch(config.workflow) ? { ...defaultPhases(), ...phases } : phases,
  }));
export type RepoConfig = z.infer<typeof RepoConfig>;

/** Of all phases; what `phases` says of one takes the place of what the workflow says of it. */
function gatesOf({
  workflow,
  phases,
}: {
  workflow: Workflow;
  phases: Readonly<Record<string, PhaseConfig>>;
}) {
  const inline = workflow.kind === "inline" ? Object.entries(workflow.phases) : [];
  return [
    ...inline
      .filter(([name]) => !Object.hasOwn(phases, name))
      .map(([name, { gates }]) => ({ path: ["workflow", "phases", name], gates })),
    ...Object.entries(phases).map(([name, { gates }]) => ({ path: ["phases", name], gates })),
  ];
}

function workflowFile(workflow: Workflow): string[] {
  return workflow.kind === "file" ? [workflow.path] : [];
}

function isCrunch(workflow: Workflow): boolean {
  return workflow.kind === "preset" && workflow.name === "crunch";
}

function defaultPhases(): Record<string, PhaseConfig> {
  return Object.fromEntries(crunchPhases.map((name) => [name, PhaseConfig.parse({})]));
}

/** The phases a repo can set something for; null where its own file does not tell. */
export function phasesKnown({ workflow }: RepoConfig): readonly string[] | null {
  if (workflow.kind === "inline") return Object.keys(workflow.phases);
  return isCrunch(workflow) ? crunchPhases : null;
}
