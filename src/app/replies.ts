import { createHash } from "node:crypto";
import type { Decision } from "../engine/decision.js";
import type { CrunchEvent } from "../engine/events.js";
import type { CrunchError } from "../errors.js";
import { plain } from "../markdown.js";
import { renderRefusal } from "../render/refusal.js";
import type { Dependencies } from "./dependencies.js";
import type { Outcome } from "./outcome.js";

type Refusal = Extract<Decision, { kind: "refuse" }>;

/** A reply is written once for what it answers, however often that is delivered or comes up again. */
export async function replyOnce(
  deps: Dependencies,
  issue: number,
  about: string,
  text: string,
): Promise<void> {
  const hash = createHash("sha256").update(about).digest("hex").slice(0, 16);
  await deps.tracker.replyOnce(issue, `<!-- crunch:reply:${hash} -->`, text);
}

/** Says why, once, and puts the labels back to where they were. */
export async function carryOutRefusal(
  deps: Dependencies,
  event: CrunchEvent,
  refusal: Refusal,
): Promise<Outcome> {
  const { tracker, authority } = deps;
  const agentsOffered = authority.kind === "operator" ? Object.keys(authority.operator.agents) : null;
  const text = renderRefusal({ code: refusal.code, detail: refusal.detail, agentsOffered });
  await replyOnce(deps, event.issue, subjectOf(event, refusal), text);
  if ("commentId" in event && event.commentId !== null) await tracker.react(event.commentId, "confused");
  if (refusal.removeLabel !== null) await tracker.removeLabel(event.issue, refusal.removeLabel);
  if (refusal.restoreLabel !== null) await tracker.addLabel(event.issue, refusal.restoreLabel);
  return { status: "refused", code: refusal.code, reason: refusal.detail, text };
}

/** What a refusal is about decides how often it is said: to a stranger once, of a broken file once a breakage. */
function subjectOf(event: CrunchEvent, { code, detail }: Refusal): string {
  switch (code) {
    case "no_permission":
      return `${code} ${"actor" in event ? event.actor.toLowerCase() : ""}`;
    case "unknown_label":
      return `${code} ${"label" in event ? event.label : ""}`;
    case "no_agent":
    case "config_invalid":
    case "not_allowed":
    case "disabled":
      return event.kind === "command" ? `${code} ${event.key}` : `${code} ${detail}`;
    default:
      return `${code} ${event.key}`;
  }
}

/** An error that stops the run is told on the issue, with what to do. */
export async function reportError(
  deps: Dependencies,
  event: CrunchEvent,
  error: CrunchError,
): Promise<Outcome> {
  const message = plain(deps.redact(error.message));
  const text = `**Crunch stopped**: ${message}\n\n${deps.redact(error.hint)}`;
  await replyOnce(deps, event.issue, `error ${error.code} ${event.key} ${error.message}`, text);
  return { status: "failed", reason: `${error.message} ${error.hint}`, checkpoint: null, text };
}
