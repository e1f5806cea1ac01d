import type { AgentRunner } from "../../ports.js";
import { createCommandAgent } from "./command.js";

/** One of the agents that the configuration names. */
export interface AgentDefinition {
  readonly kind: "command";
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
}

export interface AgentDependencies {
  readonly redact: (text: string) => string;
  readonly parentEnv?: NodeJS.ProcessEnv;
}

type CreateRunner<Kind> = (
  definition: Extract<AgentDefinition, { kind: Kind }>,
  dependencies: AgentDependencies,
) => AgentRunner;

/** One line a runner. */
const RUNNERS: { readonly [Kind in AgentDefinition["kind"]]: CreateRunner<Kind> } = {
  command: (definition, dependencies) => createCommandAgent({ ...definition, ...dependencies }),
};

export function createAgentRunner(definition: AgentDefinition, dependencies: AgentDependencies): AgentRunner {
  return RUNNERS[definition.kind](definition, dependencies);
}
