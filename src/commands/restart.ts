import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const restart: CommandDefinition = {
  usage: "/crunch restart",
  help: "begin again with the first phase; the checkpoints so far are kept",
  permission: "write",
  words: ["restart", "--restart"],
  parse(rest) {
    const words = readWords(rest, { ids: 0, flags: [] });
    return words.status === "unknown" ? words : { status: "ok", command: { name: "restart" } };
  },
};
