import type { Checkpoint } from "../checkpoint/schema.js";
import { CrunchError } from "../errors.js";
import type { AgentResult, FileChange, Workspace } from "../ports.js";
import type { PhasePlan } from "./plan.js";
import { sortChanges } from "./publish-policy.js";
import { type SecretFound, secretInCode, withoutSecrets } from "./secrets.js";
import type { Session } from "./session.js";

/** What of an agent's work may be kept: code for the branch, outputs for the issue's folder. */
export interface Produced {
  readonly code: readonly FileChange[];
  readonly outputs: readonly FileChange[];
}

export type Failure = NonNullable<Checkpoint["error"]>;

/** Looks at what the agent did and left, and keeps all of it or nothing. */
export async function judge(
  session: Session,
  issue: number,
  phase: PhasePlan,
  workspace: Workspace,
  result: AgentResult,
) {
  const nothing: Produced = { code: [], outputs: [] };
  const ended = agentFailure(result);
  if (ended) return { produced: nothing, failure: ended };
  let changes: readonly FileChange[];
  try {
    changes = await workspace.changes();
  } catch (error) {
    if (!(error instanceof CrunchError)) throw error;
    return { produced: nothing, failure: { code: error.code, message: error.message, hint: error.hint } };
  }
  const sorted = sortChanges(changes, {
    layout: session.plan.layout,
    issue,
    writes: phase.writes,
    protectedPaths: session.plan.protectedPaths,
  });
  if (sorted.status === "refused") {
    const listed = sorted.paths
      .slice(0, 10)
      .map((path) => `\`${session.redact(path).replace(/[`\r\n]/g, "?")}\``);
    const failure: Failure = {
      code: "path_not_allowed",
      message: `The agent changed what it must not: ${listed.join(", ")}. Nothing of this attempt was kept.`,
      hint: "Allow the path with `writes` or `protected_paths` in .github/crunch.yml, or comment `/crunch` to try again.",
    };
    return { produced: nothing, failure };
  }
  const secret = await secretInCode(sorted.code, workspace, session.redact);
  if (secret) return { produced: nothing, failure: secretFailure(secret) };
  const outputs = sorted.outputs.map((file) => withoutSecrets(file, session.redact));
  return {
    produced: { code: sorted.code, outputs: outputs.filter((file) => file !== null) },
    failure: unmet(result),
  };
}

function secretFailure({ path, line }: SecretFound): Failure {
  const where = `\`${path.replace(/[`\r\n]/g, "?")}\`${line === null ? "" : `, line ${line}`}`;
  return {
    code: "secret_in_code",
    message: `The agent wrote something that looks like a secret into ${where}. Nothing of this attempt was kept.`,
    hint: "If it is one, replace it: it has left its place. If it is none, write it in another way. Then comment `/crunch`.",
  };
}

function agentFailure(result: AgentResult): Failure | null {
  if (result.status === "succeeded") return null;
  const hint = "Comment `/crunch` to try again; the notes so far are kept for the next attempt.";
  return { code: `agent_${result.status}`, message: result.summary, hint };
}

function unmet(result: AgentResult): Failure | null {
  const names = Object.entries(result.acceptanceCriteria)
    .filter(([, isMet]) => !isMet)
    .map(([name]) => name);
  if (names.length === 0) return null;
  const message = `The agent says it is complete, but these acceptance criteria are not met: ${names.join(", ")}.`;
  return { code: "acceptance_unmet", message, hint: "Comment `/crunch` to let it go on." };
}

export function gateFailure(
  failed: readonly { readonly name: string; readonly summary: string }[],
): Failure | null {
  if (failed.length === 0) return null;
  const message = `Not passed: ${failed.map((gate) => `${gate.name} (${gate.summary})`).join("; ")}`;
  return { code: "gate_failed", message, hint: "Comment `/crunch` to let the agent try again from here." };
}
