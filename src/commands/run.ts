import type { CommandDefinition } from "./command.js";

export const run: CommandDefinition = {
  usage: "/crunch",
  help: "start, or go on from the latest checkpoint; try again what failed",
  permission: "write",
  words: [""],
  parse: () => ({ status: "ok", command: { name: "run" } }),
};
