import { didYouMean } from "./did-you-mean.js";
import { unknownKey } from "./plain-english.js";
import { type Finding, type Parsed, parseConfigFile } from "./problems.js";
import { phasesKnown, RepoConfig, WorkflowConfig } from "./schema.js";

export interface ParseRepoConfigOptions {
  /** The bot's operator names the agents in a file of their own, so the repo's file need not have them. */
  readonly agentsElsewhere?: boolean;
  /** The phases of the workflow, where the file itself does not tell. */
  readonly phases?: readonly string[];
}

export function parseRepoConfig(
  text: string,
  file = ".github/crunch.yml",
  options: ParseRepoConfigOptions = {},
): Parsed<RepoConfig> {
  return parseConfigFile({
    text,
    file,
    schema: RepoConfig,
    check: (config) => [
      ...(options.agentsElsewhere === true
        ? []
        : unknownAgents(agentsOf(config), Object.keys(config.agents))),
      ...unknownPhases(config, options.phases ?? phasesKnown(config) ?? Object.keys(config.phases)),
    ],
  });
}

/** A workflow in a file of its own. `agents` are the names it may use, null where they are defined elsewhere. */
export function parseWorkflowFile(
  text: string,
  file: string,
  agents: readonly string[] | null = null,
): Parsed<WorkflowConfig> {
  return parseConfigFile({
    text,
    file,
    schema: WorkflowConfig,
    check: (workflow) => (agents === null ? [] : unknownAgents(agentsOfWorkflow(workflow), agents)),
  });
}

/** What a repo sets for phases that its workflow does not have. */
function unknownPhases(config: RepoConfig, names: readonly string[]): Finding[] {
  return Object.keys(config.phases)
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: ["phases", name], message: unknownKey(name, names) }));
}

interface NamedAgent {
  readonly path: readonly string[];
  readonly agent: string | null | undefined;
}

function agentsOf({ agent, phases, workflow }: RepoConfig): NamedAgent[] {
  const inline = workflow.kind === "inline" ? agentsOfWorkflow(workflow) : [];
  return [
    { path: ["agent"], agent },
    ...inline.map(({ path, ...named }) => ({ ...named, path: ["workflow", ...path] })),
    ...Object.entries(phases).map(([name, { agent }]) => ({ path: ["phases", name, "agent"], agent })),
  ];
}

function agentsOfWorkflow({ shape, phases }: WorkflowConfig): NamedAgent[] {
  return Object.entries(shape.phases).flatMap(([name, phase]) => {
    const path = ["phases", name];
    const own = { path: [...path, "agent"], agent: phases[name]?.agent };
    if (phase.type === "tasks") return [own, ...agentsAmong(phase.tasks, [...path, "tasks"])];
    if (phase.type === "consensus") return [own, ...agentsAmong(phase.voters, [...path, "voters"])];
    return [own];
  });
}

function agentsAmong(
  workers: Readonly<Record<string, { readonly agent?: string }>>,
  path: readonly string[],
): NamedAgent[] {
  return Object.entries(workers).map(([name, { agent }]) => ({ path: [...path, name, "agent"], agent }));
}

function unknownAgents(named: readonly NamedAgent[], known: readonly string[]): Finding[] {
  return named.flatMap(({ path, agent }) =>
    agent == null || known.includes(agent) ? [] : [{ path, message: unknownAgent(agent, known) }],
  );
}

function unknownAgent(agent: string, known: readonly string[]): string {
  const found = `expected the name of an agent under \`agents\`, found "${agent}".`;
  if (known.length === 0) return `${found} No agents are defined there.`;
  return found + (didYouMean(agent, known) || ` Agents there: ${known.join(", ")}.`);
}
