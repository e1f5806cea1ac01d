import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const reject: CommandDefinition = {
  usage: "/crunch reject [id]",
  help: "say no to what a phase asks; the id of the checkpoint that asks makes sure that nothing else is meant",
  permission: "write",
  words: ["reject", "--reject"],
  parse(rest) {
    const words = readWords(rest, { ids: 1, flags: [] });
    if (words.status === "unknown") return words;
    const [id = null] = words.ids;
    return { status: "ok", command: { name: "reject", checkpoint: id === "latest" ? null : id } };
  },
};
