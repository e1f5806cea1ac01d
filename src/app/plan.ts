import { createAgentRunner } from "../adapters/agents/index.js";
import { createLayout } from "../checkpoint/layout.js";
import type { CheckpointConfig } from "../config/checkpoint-config.js";
import { isAllowedCommand, type OperatorConfig } from "../config/operator.js";
import { type AgentConfig, type GateConfig, PhaseConfig, type RepoConfig } from "../config/schema.js";
import type { Obstacle } from "../engine/decision.js";
import { onlyTask, type PhasePlan, type Plan } from "../engine/plan.js";
import { createGate } from "../gates/index.js";
import type { Issue } from "../ports.js";
import type { PhaseShape } from "../workflow/shape.js";
import { phasesInOrder, type Workflow } from "../workflow/workflow.js";

/** Who says what may run: the repo itself on its own runner, or the operator of a bot on the bot's host (law 8). */
export type Authority =
  | { readonly kind: "repo" }
  | { readonly kind: "operator"; readonly operator: OperatorConfig };

export interface Planned {
  readonly plan: Plan;
  /** Set when the repo asks for what may not run here; the plan is then not to be carried out. */
  readonly obstacle: Obstacle | null;
}

/** Resolves a repo's configuration to things that run. */
export function planFor(options: {
  readonly config: RepoConfig;
  readonly workflow: Workflow;
  readonly phaseConfigs: Readonly<Record<string, PhaseConfig>>;
  readonly checkpoint: CheckpointConfig;
  readonly authority: Authority;
  readonly issue: Issue;
  /** The branch an earlier session gave the issue's code; a title edited since does not change it. */
  readonly branch: string | null;
  readonly redact: (text: string) => string;
}): Planned {
  const { config, checkpoint, authority, workflow, phaseConfigs } = options;
  const agents = authority.kind === "operator" ? authority.operator.agents : config.agents;
  const phases: Record<string, PhasePlan> = {};
  const findings: string[] = [];
  for (const { name, ...shape } of phasesInOrder(workflow)) {
    if (shape.type === "terminal") continue;
    const phase = phaseConfig(phaseConfigs, name);
    const named = Object.entries(agentsOf(shape, phase.agent)).map(
      ([task, agent]) => [task, agent ?? config.agent] as const,
    );
    findings.push(...notAllowed(named, commandsOf(shape, phase.gates), authority));
    const planned = named.map(([task, agentName]) => {
      const agent = agentName !== null && Object.hasOwn(agents, agentName) ? agents[agentName] : undefined;
      return [task, agentName !== null && agent ? runnable(agentName, agent, phase, options.redact) : null];
    });
    phases[name] = {
      agents: Object.fromEntries(planned),
      writes: phase.writes,
      gates: [...("gates" in shape ? (shape.gates ?? []) : []), ...phase.gates].map((gate) =>
        createGate(gate, name),
      ),
    };
  }
  const plan: Plan = {
    workflow,
    advance: config.advance,
    maxAttempts: config.maxAttempts,
    branch: options.branch ?? branchName(config.branch, options.issue),
    protectedPaths: config.protectedPaths,
    phases,
    checkpoints: checkpoint.triggers,
    layout: createLayout(checkpoint.storage.location),
    isCompressed: checkpoint.storage.compress,
    maxPutBytes: checkpoint.storage.maxBytes,
    retention: checkpoint.retention,
  };
  const detail = [...new Set(findings)].join("; ");
  return { plan, obstacle: detail === "" ? null : { code: "not_allowed", detail } };
}

function phaseConfig(phases: Readonly<Record<string, PhaseConfig>>, name: string): PhaseConfig {
  return (Object.hasOwn(phases, name) ? phases[name] : undefined) ?? PhaseConfig.parse({});
}

/** By task, the agent that the repo or the workflow names for it; null where that is left to the default. */
function agentsOf(shape: PhaseShape, set: string | null): Readonly<Record<string, string | null>> {
  switch (shape.type) {
    case "agent":
      return { [onlyTask]: set ?? shape.agent ?? null };
    case "tasks":
      return named(shape.tasks, set ?? shape.agent ?? null);
    case "consensus":
      return named(shape.voters, set);
    default:
      return {};
  }
}

function named(tasks: Readonly<Record<string, { readonly agent?: string }>>, otherwise: string | null) {
  const agents = Object.entries(tasks).map(([name, { agent }]) => [name, agent ?? otherwise]);
  return Object.fromEntries(agents) as Record<string, string | null>;
}

function runnable(name: string, agent: AgentConfig, phase: PhaseConfig, redact: (text: string) => string) {
  const runner = createAgentRunner({ kind: "command", name, ...agent }, { redact });
  return { name, runner, timeoutMs: phase.timeoutMs ?? agent.timeoutMs };
}

function notAllowed(
  agents: readonly (readonly [string, string | null])[],
  commands: readonly (readonly string[])[],
  authority: Authority,
): string[] {
  if (authority.kind === "repo") return [];
  const { operator } = authority;
  const offered = Object.keys(operator.agents);
  const strange = agents.flatMap(([, agent]) =>
    agent === null || Object.hasOwn(operator.agents, agent) ? [] : [agent],
  );
  const allowed = operator.commands.map((words) => words.join(" "));
  return [
    ...strange.map((agent) => `the agent \`${agent}\` is not one of this bot's (${listed(offered)})`),
    ...commands
      .filter((argv) => !isAllowedCommand(operator, argv))
      .map((argv) => `the command ${code(argv.join(" "))} is not one this bot may run (${listed(allowed)})`),
  ];
}

/** All that is run for a phase besides its agents. */
function commandsOf(shape: PhaseShape, gates: readonly GateConfig[]): readonly (readonly string[])[] {
  const hooks =
    shape.type === "terminal"
      ? []
      : [...(shape.before ?? []), ...(shape.after ?? []), ...(shape.finally ?? [])];
  return [
    ...gates.flatMap((gate) => (gate.type === "command" ? [gate.command] : [])),
    ...hooks.map(({ command }) => command),
  ];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? "none is allowed" : `allowed: ${names.map(code).join(", ")}`;
}

function code(text: string): string {
  return `\`${text.replace(/[`\r\n]/g, "?")}\``;
}

/** `{slug}` is made of the title's letters and digits; a title without any leaves no trace. */
function branchName(template: string, issue: Issue): string {
  const words =
    issue.title
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join("-").slice(0, 40).replace(/-+$/, "");
  return template
    .replaceAll("{issue}", String(issue.number))
    .replaceAll("{slug}", slug)
    .replace(/[-._/]+$/, "");
}
