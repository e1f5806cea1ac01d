import type { CommandDefinition } from "./command.js";

export const status: CommandDefinition = {
  usage: "/crunch status",
  help: "say where the work stands",
  permission: "triage",
  words: ["status", "--status"],
  parse: (rest) =>
    rest.trim() === ""
      ? { status: "ok", command: { name: "status" } }
      : { status: "unknown", problem: "`status` takes no arguments" },
};
