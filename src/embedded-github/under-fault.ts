import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, answer, refusal } from "./answer.js";
import type { FaultEffect } from "./faults.js";

/** Undefined: the socket shall be destroyed. */
export async function underFault(
  effect: FaultEffect | undefined,
  apply: () => Promise<Answer>,
): Promise<Answer | undefined> {
  switch (effect?.kind) {
    case undefined:
      return apply();
    case "status":
      return effect.body === undefined
        ? refusalWith(effect.status, effect.headers)
        : answer(effect.status, effect.body, { ...effect.headers });
    case "delay":
      await sleep(effect.ms, undefined, { ref: false });
      return apply();
    case "reset":
      return undefined;
    case "lost":
      await apply();
      return undefined;
    case "lost-status":
      await apply();
      return refusal(effect.status, "Server Error");
  }
}

function refusalWith(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { ...refusal(status, "Fault"), headers };
}
