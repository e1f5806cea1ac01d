import type { Checkpoint } from "../checkpoint/schema.js";
import { parseRepoConfig } from "../config/parse-config.js";
import type { RepoConfig } from "../config/schema.js";
import type { Obstacle } from "../engine/decision.js";
import type { Plan } from "../engine/plan.js";
import type { CheckpointStore, Issue } from "../ports.js";
import { renderConfigProblems } from "../render/config-problems.js";
import type { Dependencies } from "./dependencies.js";
import { planFor } from "./plan.js";
import { lookAround, type Seen } from "./world.js";

const configFile = ".github/crunch.yml";

/** All that a decision about an issue needs, read afresh. */
export interface Loaded {
  readonly issue: Issue;
  readonly latest: Checkpoint | null;
  /** The world beside the latest checkpoint; null without one. */
  readonly seen: Seen | null;
  readonly plan: Plan;
  readonly obstacle: Obstacle | null;
}

export interface Configured {
  readonly config: RepoConfig;
  readonly obstacle: Obstacle | null;
  readonly store: CheckpointStore;
}

/** The repo's configuration, from the default branch and nowhere else: a pull request can't change it. */
export async function loadConfig(deps: Dependencies): Promise<Configured> {
  const text = (await deps.readFile(configFile)) ?? "";
  const parsed = parseRepoConfig(text, configFile, { agentsElsewhere: deps.authority.kind === "operator" });
  const config = parsed.status === "ok" ? parsed.config : defaultConfig();
  const obstacle: Obstacle | null =
    parsed.status === "ok" ? null : { code: "config_invalid", detail: renderConfigProblems(parsed.problems) };
  return { config, obstacle, store: deps.openStore(config.storage.branch) };
}

export async function loadIssue(deps: Dependencies, configured: Configured, number: number): Promise<Loaded> {
  const [issue, latest] = await Promise.all([deps.tracker.issue(number), configured.store.latest(number)]);
  const { plan, obstacle } = planFor({
    config: configured.config,
    authority: deps.authority,
    issue,
    branch: latest?.issue_snapshot.branch ?? null,
    redact: deps.redact,
  });
  const seen = latest && (await lookAround(deps.code, latest, issue));
  return { issue, latest, seen, plan, obstacle: configured.obstacle ?? obstacle };
}

function defaultConfig(): RepoConfig {
  const parsed = parseRepoConfig("", configFile);
  if (parsed.status !== "ok") throw new Error("the defaults are not a valid configuration");
  return parsed.config;
}
