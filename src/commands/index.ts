import { answer } from "./answer.js";
import { approve } from "./approve.js";
import { checkpoint } from "./checkpoint.js";
import type { Command, CommandDefinition } from "./command.js";
import { diff } from "./diff.js";
import { reject } from "./reject.js";
import { restart } from "./restart.js";
import { resume } from "./resume.js";
import { rollback } from "./rollback.js";
import { run } from "./run.js";
import { status } from "./status.js";

/** Every slash command; one line each. */
export const commands = {
  run,
  checkpoint,
  status,
  resume,
  rollback,
  diff,
  restart,
  approve,
  reject,
  answer,
} satisfies Record<Command["name"], CommandDefinition>;

/** The commands as a Markdown list, for help and refusals. */
export function commandList(): string {
  return Object.values(commands)
    .map((command) => `- \`${command.usage}\`: ${command.help}`)
    .join("\n");
}
