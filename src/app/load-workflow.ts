import { parseWorkflowFile } from "../config/parse-config.js";
import type { ConfigProblem } from "../config/problems.js";
import type { PhaseConfig, RepoConfig } from "../config/schema.js";
import { CrunchError } from "../errors.js";
import { presets } from "../workflow/presets/index.js";
import { createWorkflow, type Workflow } from "../workflow/workflow.js";

export interface LoadedWorkflow {
  readonly workflow: Workflow;
  /** What is set for its phases. */
  readonly phases: Readonly<Record<string, PhaseConfig>>;
}

export type WorkflowLoading =
  | { readonly status: "ok"; readonly loaded: LoadedWorkflow }
  | { readonly status: "invalid"; readonly problems: readonly ConfigProblem[] };

/** The workflow that a repo's configuration means: a preset, one written there, or one in a file of its own. */
export async function loadWorkflow(
  config: RepoConfig,
  options: {
    readonly configFile: string;
    readonly readFile: (path: string) => Promise<string | null>;
    /** The agents that it may name; null where they are defined elsewhere. */
    readonly agents: readonly string[] | null;
  },
): Promise<WorkflowLoading> {
  const { workflow, approval, projectType, include } = config;
  if (workflow.kind === "inline") return ok(workflow, config);
  if (workflow.kind === "preset") {
    try {
      return ok({ shape: presets[workflow.name]({ approval, projectType, include }), phases: {} }, config);
    } catch (error) {
      if (!(error instanceof CrunchError)) throw error;
      return wrong(options.configFile, `${error.message} ${error.hint}`);
    }
  }
  const text = await options.readFile(workflow.path);
  if (text === null)
    return wrong(
      options.configFile,
      `\`workflow\` names ${workflow.path}, which the default branch does not have.`,
    );
  const parsed = parseWorkflowFile(text, workflow.path, options.agents);
  return parsed.status === "ok" ? ok(parsed.config, config) : parsed;
}

function ok(
  {
    shape,
    phases,
  }: { readonly shape: Parameters<typeof createWorkflow>[0]; readonly phases: LoadedWorkflow["phases"] },
  config: RepoConfig,
): WorkflowLoading {
  const loaded = { workflow: createWorkflow(shape), phases: { ...phases, ...config.phases } };
  return { status: "ok", loaded };
}

function wrong(file: string, message: string): WorkflowLoading {
  return { status: "invalid", problems: [{ file, line: 1, column: 1, path: "workflow", message }] };
}
