export type { EmbeddedGitHub, EmbeddedGitHubOptions } from "./embedded-github.js";
export type { FaultEffect } from "./faults.js";
export { startEmbeddedGitHub } from "./start.js";
export type { Delivery } from "./webhooks.js";
