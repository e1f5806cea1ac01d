import { statusOf } from "./client.js";
import { named, type Repository } from "./repository.js";

export type Relayed =
  | { readonly status: "dispatched" }
  /** `reason` says what a person can change. */
  | { readonly status: "refused"; readonly reason: string };

/**
 * Starts the workflow of this job once more. Of all that a job's own token does, only dispatches start workflows.
 * `workflowRef` is GITHUB_WORKFLOW_REF: `octo/demo/.github/workflows/crunch.yml@refs/heads/main`.
 */
export async function dispatchAgain(
  repository: Repository,
  workflowRef: string,
  inputs: Readonly<Record<string, string>>,
): Promise<Relayed> {
  const [, file, ref] = /\/\.github\/workflows\/([^/@]+)@(.+)$/.exec(workflowRef) ?? [];
  if (file === undefined || ref === undefined)
    return { status: "refused", reason: "the job does not say which workflow it belongs to" };
  try {
    await repository.octokit.actions.createWorkflowDispatch({
      ...named(repository),
      workflow_id: file,
      ref: ref.replace(/^refs\/(heads|tags)\//, ""),
      inputs,
    });
    return { status: "dispatched" };
  } catch (error) {
    return { status: "refused", reason: reasonOf(error, file) };
  }
}

function reasonOf(error: unknown, file: string): string {
  switch (statusOf(error)) {
    case 403:
    case 404:
      return `the job may not start \`${file}\`: that takes \`actions: write\` under \`permissions\``;
    case 422:
      return `\`${file}\` can't be started so: it needs \`workflow_dispatch\` with the inputs \`issue\` and \`command\``;
    default:
      return `GitHub did not start \`${file}\`: ${error instanceof Error ? error.message : String(error)}`;
  }
}
