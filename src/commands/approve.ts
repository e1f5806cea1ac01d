import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const approve: CommandDefinition = {
  usage: "/crunch approve [id]",
  help: "say yes to what a phase asks; the id of the checkpoint that asks makes sure that nothing else is meant",
  permission: "write",
  words: ["approve", "--approve"],
  parse(rest) {
    const words = readWords(rest, { ids: 1, flags: [] });
    if (words.status === "unknown") return words;
    const [id = null] = words.ids;
    return { status: "ok", command: { name: "approve", checkpoint: id === "latest" ? null : id } };
  },
};
