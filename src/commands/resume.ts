import type { CommandDefinition } from "./command.js";
import { readWords } from "./words.js";

export const resume: CommandDefinition = {
  usage: "/crunch resume [id] [--dry-run] [--accept] [--keep-theirs | --keep-mine]",
  help: [
    "go on from the latest checkpoint, or from the one named; `--dry-run` only shows what would be restored;",
    "`--accept` goes on although the issue's text has changed, `--keep-theirs` or `--keep-mine` although the branch has",
  ].join(" "),
  permission: "write",
  words: ["resume", "--resume"],
  parse(rest) {
    const words = readWords(rest, {
      ids: 1,
      flags: ["--dry-run", "--accept", "--keep-theirs", "--keep-mine"],
    });
    if (words.status === "unknown") return words;
    const { ids, flags } = words;
    if (flags.has("--keep-theirs") && flags.has("--keep-mine")) {
      return { status: "unknown", problem: "`--keep-theirs` and `--keep-mine` exclude each other" };
    }
    const keep = flags.has("--keep-theirs") ? "theirs" : flags.has("--keep-mine") ? "mine" : null;
    const checkpoint = ids[0] === undefined || ids[0] === "latest" ? null : ids[0];
    const isAccepted = flags.has("--accept");
    return {
      status: "ok",
      command: { name: "resume", checkpoint, isDryRun: flags.has("--dry-run"), isAccepted, keep },
    };
  },
};
