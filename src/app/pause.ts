import type { Freshness } from "../checkpoint/freshness.js";
import { renderStale } from "../render/stale.js";
import { append } from "./append.js";
import type { Outcome } from "./outcome.js";
import { replyOnce } from "./replies.js";
import { type Handling, showNow } from "./run-loop.js";
import { isAskedAbout } from "./world.js";

/** The world has changed: says how, and waits for a person's answer, which will be about just this. */
export async function pauseForAnswer(
  handling: Handling,
  freshness: Freshness,
): Promise<Outcome | "gave_way"> {
  const { deps, event, loaded } = handling;
  const { seen } = loaded;
  if (!loaded.latest || !seen) return { status: "ignored", reason: "no run has begun" };
  const asked = isAskedAbout(loaded.latest, seen)
    ? loaded.latest
    : await append(handling, async ({ type, outcome, partial_work, progress, error }) => ({
        change: {
          ...{ type, outcome, partial_work, progress, error, trigger: "pause", lease: null },
          pause: { kind: "stale", ...seen.mark },
        },
      }));
  if (asked === "held" || asked === "void") return "gave_way";
  if (!asked) return { status: "ignored", reason: "no run has begun" };
  const text = renderStale(freshness);
  await replyOnce(deps, event.issue, `${asked.checkpoint_id} ${event.key}`, text);
  const shown = await showNow(handling, asked, loaded.issue, "keep");
  return { status: "waiting", reason: "stale", checkpoint: shown, text };
}
