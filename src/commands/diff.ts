import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const diff: CommandDefinition = {
  usage: "/crunch diff <id> [id]",
  help: "compare two checkpoints; the second is the latest one if you leave it out",
  permission: "triage",
  words: ["diff", "--diff", "compare"],
  parse(rest) {
    const words = readWords(rest, { ids: 2, flags: [] });
    if (words.status === "unknown") return words;
    const [before, after = "latest"] = words.ids;
    if (before === undefined) return { status: "unknown", problem: "`diff` needs the id of a checkpoint" };
    return { status: "ok", command: { name: "diff", before, after } };
  },
};
