import { isCheckpointId } from "../checkpoint/id.js";
import type { CommandDefinition } from "./command.js";

const longestAnswer = 2000;

export const answer: CommandDefinition = {
  usage: "/crunch answer [id] <text>",
  help: "answer what a phase asks, with one of its choices or in your own words",
  permission: "write",
  words: ["answer", "--answer"],
  parse(rest) {
    const [first = ""] = rest.trim().split(/\s/, 1);
    const checkpoint = isCheckpointId(first) ? first : null;
    const text = (checkpoint === null ? rest : rest.trim().slice(first.length)).trim();
    if (text === "") return { status: "unknown", problem: "`answer` needs the text of the answer" };
    if (text.length > longestAnswer)
      return {
        status: "unknown",
        problem: `the answer has ${text.length} characters; ${longestAnswer} is the most`,
      };
    return { status: "ok", command: { name: "answer", checkpoint, text } };
  },
};
