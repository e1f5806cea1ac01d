import { z } from "zod";
import { AgentConfigs, AgentName } from "./agent-config.js";
import { CheckpointConfig } from "./checkpoint-config.js";
import { BranchTemplate, Command, Duration, Glob, OutputPath } from "./fields.js";

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

const phase = PhaseConfig.prefault({});
const Phases = z.strictObject({
  enrich: phase,
  implementing: phase,
  validation: phase,
  docs: phase,
});

/** Whoever may change these decides what runs next time, so no configuration can unprotect them. */
const alwaysProtected = [".github/workflows/**", ".github/crunch.yml", ".git/**"];

export const RepoConfig = z
  .strictObject({
    version: z.literal(1).default(1),
    workflow: z.enum(["crunch"]).default("crunch"),
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
    phases: Phases.prefault({}),
  })
  .superRefine((config, context) => {
    if (config.branch === config.checkpoint?.storage.branch) {
      const message = "expected a branch of its own for checkpoints, found the same name as `branch`.";
      context.addIssue({ code: "custom", path: ["checkpoint", "storage", "branch"], message });
    }
    for (const { path, name } of repeatedGates(config.phases)) {
      const message = `the gate name ${JSON.stringify(name)} is used twice, but each gate is a check of its own. Give it another \`name\`.`;
      context.addIssue({ code: "custom", path, message });
    }
  })
  .transform(({ max_attempts, protected_paths, ...config }) => ({
    ...config,
    maxAttempts: max_attempts,
    protectedPaths: [...new Set([...protected_paths, ...alwaysProtected])],
  }));
export type RepoConfig = z.infer<typeof RepoConfig>;

function repeatedGates(phases: z.infer<typeof Phases>) {
  const seen = new Set<string>();
  const repeated: { path: PropertyKey[]; name: string }[] = [];
  for (const [phaseName, { gates }] of Object.entries(phases)) {
    for (const [index, { name }] of gates.entries()) {
      if (seen.has(name)) repeated.push({ path: ["phases", phaseName, "gates", index], name });
      seen.add(name);
    }
  }
  return repeated;
}
