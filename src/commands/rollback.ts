import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const rollback: CommandDefinition = {
  usage: "/crunch rollback <id>",
  help: "put state, label, code, notes and outputs back to a checkpoint; roll back again to undo it",
  permission: "write",
  words: ["rollback", "--rollback"],
  parse(rest) {
    const words = readWords(rest, { ids: 1, flags: [] });
    if (words.status === "unknown") return words;
    const id = words.ids[0];
    if (id === undefined || id === "latest") {
      return { status: "unknown", problem: "`rollback` needs the id of the checkpoint to go back to" };
    }
    return { status: "ok", command: { name: "rollback", checkpoint: id } };
  },
};
