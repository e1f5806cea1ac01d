/** The names in action.yml. A test holds them, these lists and the README's tables together. */
export const actionInputs = [
  "github-token",
  "issue",
  "command",
  "working-directory",
  "bot-login",
  "allowed-bots",
  "time-limit-minutes",
] as const;
export type ActionInput = (typeof actionInputs)[number];

export const actionOutputs = ["status", "reason", "phase", "checkpoint-id", "pull-request"] as const;
export type ActionOutput = (typeof actionOutputs)[number];
