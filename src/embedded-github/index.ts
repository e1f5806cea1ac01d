export type { RepositoryDispatch, RunnerStatus, WorkflowDispatch } from "./dispatch-records.js";
export type { EmbeddedGitHub, EmbeddedGitHubOptions } from "./embedded-github.js";
export type { Fault, FaultEffect, FaultPlan } from "./faults.js";
export type { Role } from "./identities.js";
export type { LoggedRequest, RequestLog } from "./request-log.js";
export type { FileMode, SeedFiles } from "./seed.js";
export { startEmbeddedGitHub } from "./start.js";
export type { Delivery, WebhookTarget } from "./webhooks.js";
