import { didYouMean } from "./did-you-mean.js";
import { type Finding, type Parsed, parseConfigFile } from "./problems.js";
import { RepoConfig } from "./schema.js";

export interface ParseRepoConfigOptions {
  /** The bot's operator names the agents in a file of their own, so the repo's file need not have them. */
  readonly agentsElsewhere?: boolean;
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
    check: (config) => (options.agentsElsewhere === true ? [] : unknownAgents(config)),
  });
}

function unknownAgents(config: RepoConfig): Finding[] {
  const named = [
    { path: ["agent"], agent: config.agent },
    ...Object.entries(config.phases).map(([name, { agent }]) => ({ path: ["phases", name, "agent"], agent })),
  ];
  const known = Object.keys(config.agents);
  return named.flatMap(({ path, agent }) =>
    agent === null || known.includes(agent) ? [] : [{ path, message: unknownAgent(agent, known) }],
  );
}

function unknownAgent(agent: string, known: readonly string[]): string {
  const found = `expected the name of an agent under \`agents\`, found "${agent}".`;
  if (known.length === 0) return `${found} No agents are defined there.`;
  return found + (didYouMean(agent, known) || ` Agents there: ${known.join(", ")}.`);
}
