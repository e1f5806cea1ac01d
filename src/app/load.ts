import { createLayout } from "../checkpoint/layout.js";
import type { Checkpoint } from "../checkpoint/schema.js";
import {
  type CheckpointConfig,
  defaultCheckpointConfig,
  parseCheckpointConfig,
} from "../config/checkpoint-config.js";
import { parseRepoConfig } from "../config/parse-config.js";
import type { ConfigProblem, Parsed } from "../config/problems.js";
import type { AgentConfig, PhaseConfig, RepoConfig } from "../config/schema.js";
import type { Obstacle } from "../engine/decision.js";
import type { CrunchEvent } from "../engine/events.js";
import type { Plan } from "../engine/plan.js";
import type { CheckpointStore, Issue } from "../ports.js";
import { alsoHiding, secretsAmong, secretsIn } from "../redact.js";
import { renderConfigProblems } from "../render/config-problems.js";
import { presets } from "../workflow/presets/index.js";
import { createWorkflow, type Workflow } from "../workflow/workflow.js";
import type { Dependencies } from "./dependencies.js";
import { type LoadedWorkflow, loadWorkflow } from "./load-workflow.js";
import { readLatest } from "./mend.js";
import { planFor } from "./plan.js";
import { lookAround, type Seen } from "./world.js";

export const configFile = ".github/crunch.yml";
const checkpointFile = ".claude/checkpoint-config.yaml";

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
  readonly workflow: Workflow;
  /** What is set for its phases. */
  readonly phases: Readonly<Record<string, PhaseConfig>>;
  readonly checkpoint: CheckpointConfig;
  readonly obstacle: Obstacle | null;
  readonly store: CheckpointStore;
  /** Hides what Crunch knows to be secret, and all that is handed to an agent. */
  readonly redact: (text: string) => string;
}

/** The repo's configuration, from the default branch and nowhere else: a pull request can't change it. */
export async function loadConfig(deps: Dependencies): Promise<Configured> {
  const text = (await deps.readFile(configFile)) ?? "";
  const parsed = parseRepoConfig(text, configFile, { agentsElsewhere: deps.authority.kind === "operator" });
  const config = parsed.status === "ok" ? parsed.config : defaultConfig();
  const agentsElsewhere = deps.authority.kind === "operator";
  const found = await loadWorkflow(config, {
    ...{ configFile, readFile: deps.readFile },
    agents: agentsElsewhere ? null : Object.keys(config.agents),
  });
  const known = found.status === "ok" ? found.loaded : defaultWorkflow();
  // Only now is it known which phases there are settings for.
  const phases = Object.keys(known.workflow.phases);
  const again =
    parsed.status === "ok" ? parseRepoConfig(text, configFile, { agentsElsewhere, phases }) : parsed;
  const own: Parsed<{ checkpoint: CheckpointConfig | null }> = config.checkpoint
    ? { status: "ok", config: { checkpoint: config.checkpoint } }
    : await readCheckpointFile(deps);
  const checkpoint = (own.status === "ok" ? own.config.checkpoint : null) ?? defaultCheckpointConfig;
  const problems = [again, found, own].flatMap((each) => (each.status === "invalid" ? each.problems : []));
  const isOnDefault = checkpoint.storage.branch === deps.code.defaultBranch;
  const { location, branch, compress, maxBytes } = checkpoint.storage;
  const store = deps.openStore(branch, { layout: createLayout(location), compress, maxBytes });
  const agents = deps.authority.kind === "operator" ? deps.authority.operator.agents : config.agents;
  const redact = alsoHiding(deps.redact, handedOver(Object.values(agents)));
  return {
    config,
    ...known,
    checkpoint,
    obstacle: isOnDefault ? onDefaultBranch(deps.code.defaultBranch) : obstacleOf(problems, checkpoint),
    store,
    redact,
  };
}

/** What is passed on to agents is secret, whatever its name; of what is set for them, what is named so. */
function handedOver(agents: readonly AgentConfig[]): string[] {
  return agents.flatMap(({ env, passEnv }) => [
    ...secretsAmong(passEnv.flatMap((name) => process.env[name] ?? [])),
    ...secretsIn(env),
  ]);
}

/** The settings of checkpoints in a file of their own, as they were before there was a `.github/crunch.yml`. */
async function readCheckpointFile(
  deps: Dependencies,
): Promise<Parsed<{ checkpoint: CheckpointConfig | null }>> {
  const text = await deps.readFile(checkpointFile);
  return text === null
    ? { status: "ok", config: { checkpoint: null } }
    : parseCheckpointConfig(text, checkpointFile);
}

/** Only here is it known what the branch is called. Nothing of Crunch is ever written to it. */
function onDefaultBranch(branch: string): Obstacle {
  const detail = `\`checkpoint.storage.branch\` is \`${branch}\`, the default branch. Checkpoints need a branch of their own, such as \`crunch/issue-{issue}\``;
  return { code: "config_invalid", detail };
}

function obstacleOf(problems: readonly ConfigProblem[], { enabled }: CheckpointConfig): Obstacle | null {
  if (problems.length > 0) return { code: "config_invalid", detail: renderConfigProblems(problems) };
  if (enabled) return null;
  const detail =
    "checkpoints are turned off here (`checkpoint.enabled: false`), and they are all the memory Crunch has";
  return { code: "disabled", detail };
}

export async function loadIssue(
  deps: Dependencies,
  configured: Configured,
  event: CrunchEvent,
): Promise<Loaded> {
  const [issue, latest] = await Promise.all([
    deps.tracker.issue(event.issue),
    readLatest(configured.store, deps.code, event),
  ]);
  const { plan, obstacle } = planFor({
    config: configured.config,
    workflow: configured.workflow,
    phaseConfigs: configured.phases,
    checkpoint: configured.checkpoint,
    authority: deps.authority,
    issue,
    branch: latest?.issue_snapshot.branch ?? null,
    redact: configured.redact,
  });
  const seen = latest && (await lookAround(deps.code, latest, issue));
  return { issue, latest, seen, plan, obstacle: configured.obstacle ?? obstacle };
}

/** For a repo whose own can't be read: nothing of it is run. */
function defaultWorkflow(): LoadedWorkflow {
  const options = { approval: "none", projectType: null, include: [] } as const;
  return { workflow: createWorkflow(presets.crunch(options)), phases: {} };
}

function defaultConfig(): RepoConfig {
  const parsed = parseRepoConfig("", configFile);
  if (parsed.status !== "ok") throw new Error("the defaults are not a valid configuration");
  return parsed.config;
}
