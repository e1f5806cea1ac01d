import { z } from "zod";
import { AgentConfigs } from "./agent-config.js";
import { Command } from "./fields.js";
import { type Parsed, parseConfigFile } from "./problems.js";

/** The bot operator's file: what may run on the bot's host. A repo only picks among these (law 8). */
export const OperatorConfig = z.strictObject({
  agents: AgentConfigs,
  commands: z.array(Command).default([]),
});
export type OperatorConfig = z.infer<typeof OperatorConfig>;

export function parseOperatorConfig(text: string, file: string): Parsed<OperatorConfig> {
  return parseConfigFile({ text, file, schema: OperatorConfig });
}

/** Every word must be equal: a prefix or a pattern would let a repo add arguments of its own. */
export function isAllowedCommand(operator: OperatorConfig, argv: readonly string[]): boolean {
  return operator.commands.some(
    (allowed) => allowed.length === argv.length && allowed.every((word, index) => word === argv[index]),
  );
}
