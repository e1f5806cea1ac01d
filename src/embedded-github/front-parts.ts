import type { CheckRecords } from "./check-records.js";
import type { DispatchRecords } from "./dispatch-records.js";
import type { Identities } from "./identities.js";
import type { PullHeads } from "./pull-heads.js";
import type { Reactions } from "./reactions.js";
import type { Upstream } from "./upstream.js";
import type { Webhooks } from "./webhooks.js";

/** The state the front keeps beside the emulator, and the ways to reach both. */
export interface FrontParts {
  readonly url: string;
  readonly owner: string;
  readonly repo: string;
  readonly apps: readonly { readonly id: number; readonly slug: string; readonly installationId: number }[];
  readonly upstream: Upstream;
  readonly identities: Identities;
  readonly webhooks: Webhooks;
  readonly pulls: PullHeads;
  readonly reactions: Reactions;
  readonly checks: CheckRecords;
  readonly dispatches: DispatchRecords;
}
