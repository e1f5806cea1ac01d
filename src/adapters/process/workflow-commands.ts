// An Actions runner obeys `::name::` where a line begins, after any white space, and `##[name]` anywhere.
const COLON_COMMAND = /^([^\S\n\r\u2028\u2029]*):(?=:)/gm;
const HASH_COMMAND = /##(?=\[)/g;

/** Makes workflow commands in what an agent printed into plain text that a runner does not obey. */
export function neutraliseWorkflowCommands(text: string): string {
  return text.replace(COLON_COMMAND, "$1: ").replace(HASH_COMMAND, "# #");
}
