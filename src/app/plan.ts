import { createAgentRunner } from "../adapters/agents/index.js";
import { createLayout } from "../checkpoint/layout.js";
import type { CheckpointConfig } from "../config/checkpoint-config.js";
import { isAllowedCommand, type OperatorConfig } from "../config/operator.js";
import type { AgentConfig, GateConfig, PhaseConfig, RepoConfig } from "../config/schema.js";
import type { Obstacle } from "../engine/decision.js";
import type { PhasePlan, Plan } from "../engine/plan.js";
import { createGate } from "../gates/index.js";
import type { Issue } from "../ports.js";
import { presets } from "../workflow/presets/index.js";
import { phasesInOrder } from "../workflow/workflow.js";

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
  readonly checkpoint: CheckpointConfig;
  readonly authority: Authority;
  readonly issue: Issue;
  /** The branch an earlier session gave the issue's code; a title edited since does not change it. */
  readonly branch: string | null;
  readonly redact: (text: string) => string;
}): Planned {
  const { config, checkpoint, authority } = options;
  const agents = authority.kind === "operator" ? authority.operator.agents : config.agents;
  const workflow = presets.crunch({ approval: config.approval });
  const agentPhases = phasesInOrder(workflow).filter((phase) => phase.kind === "agent");
  const phases: Record<string, PhasePlan> = {};
  const findings: string[] = [];
  for (const { name } of agentPhases) {
    const phase = phaseConfig(config, name);
    findings.push(...notAllowed(phase, config, authority));
    const agentName = phase.agent ?? config.agent;
    const agent = agentName !== null && Object.hasOwn(agents, agentName) ? agents[agentName] : undefined;
    phases[name] = {
      agent: agentName !== null && agent ? runnable(agentName, agent, phase, options.redact) : null,
      writes: phase.writes,
      gates: phase.gates.map((gate) => createGate(gate, name)),
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

function phaseConfig(config: RepoConfig, name: string): PhaseConfig {
  const phases: Readonly<Record<string, PhaseConfig>> = config.phases;
  const phase = phases[name];
  if (!phase) throw new Error(`the configuration has no phase ${name}`);
  return phase;
}

function runnable(name: string, agent: AgentConfig, phase: PhaseConfig, redact: (text: string) => string) {
  const runner = createAgentRunner({ kind: "command", name, ...agent }, { redact });
  return { name, runner, timeoutMs: phase.timeoutMs ?? agent.timeoutMs };
}

function notAllowed(phase: PhaseConfig, config: RepoConfig, authority: Authority): string[] {
  if (authority.kind === "repo") return [];
  const { operator } = authority;
  const offered = Object.keys(operator.agents);
  const agent = phase.agent ?? config.agent;
  const agentFinding =
    agent === null || Object.hasOwn(operator.agents, agent)
      ? []
      : [`the agent \`${agent}\` is not one of this bot's (${listed(offered)})`];
  const allowed = operator.commands.map((words) => words.join(" "));
  return [
    ...agentFinding,
    ...commandsOf(phase.gates)
      .filter((argv) => !isAllowedCommand(operator, argv))
      .map(
        (argv) => `the gate command ${code(argv.join(" "))} is not one this bot may run (${listed(allowed)})`,
      ),
  ];
}

function commandsOf(gates: readonly GateConfig[]): readonly (readonly string[])[] {
  return gates.flatMap((gate) => (gate.type === "command" ? [gate.command] : []));
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
