import type { CommandDefinition } from "./command.js";

const longestNote = 2000;

export const checkpoint: CommandDefinition = {
  usage: "/crunch --checkpoint [note]",
  help: "save a checkpoint now, with a note if you like",
  permission: "write",
  words: ["--checkpoint", "checkpoint"],
  parse(rest) {
    const note = rest.trim();
    if (note.length > longestNote) {
      return {
        status: "unknown",
        problem: `the note has ${note.length} characters; ${longestNote} is the most`,
      };
    }
    return { status: "ok", command: { name: "checkpoint", note: note === "" ? null : note } };
  },
};
