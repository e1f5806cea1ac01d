import { createHmac, randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { CrunchError } from "../errors.js";
import { textOf } from "./json.js";
import { Lock } from "./lock.js";

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface Delivery {
  /** The `X-GitHub-Delivery` GUID; a redelivery keeps it. */
  readonly id: string;
  readonly event: string;
  readonly action: string | null;
  readonly payload: unknown;
  /** Null while under way, when there was no target, or when nobody answered. */
  readonly status: number | null;
  readonly at: Date;
}

interface Parcel {
  readonly id: string;
  readonly event: string;
  readonly body: string;
  readonly signature?: "bad" | "missing";
}

/** GitHub gives a receiver ten seconds. */
const TIMEOUT_MS = 10_000;

/** As many as can be looked at and delivered again. */
const KEPT = 5_000;

/** Delivers webhooks in order, one at a time, without holding up the API; like GitHub, never by itself again. */
export class Webhooks {
  readonly #deliveries: Delivery[] = [];
  readonly #bodies = new Map<string, Parcel>();
  readonly #queue = new Lock();
  readonly #stop = new AbortController();
  #target: WebhookTarget | null;

  constructor(target: WebhookTarget | null) {
    this.#target = target;
  }

  get deliveries(): readonly Delivery[] {
    return this.#deliveries;
  }

  setTarget(target: WebhookTarget | null): void {
    this.#target = target;
  }

  emit(event: string, payload: Readonly<Record<string, unknown>>): void {
    void this.#send({ id: randomUUID(), event, body: JSON.stringify(payload) });
  }

  async redeliver(id: string): Promise<void> {
    const parcel = this.#bodies.get(id);
    if (parcel === undefined) throw noSuch(`no delivery ${id}`);
    await this.#send(parcel);
  }

  async deliver(event: string, payload: unknown, how: Pick<Parcel, "signature"> & { id?: string }) {
    if (this.#target === null) throw noSuch("no webhook target is set");
    const { id = randomUUID(), ...rest } = how;
    const status = await this.#send({ id, event, body: JSON.stringify(payload), ...rest });
    return { status: status ?? 0 };
  }

  /** Resolves once everything enqueued so far has been answered or given up. */
  settled(): Promise<void> {
    return this.#queue.run(async () => undefined);
  }

  close(): void {
    this.#stop.abort();
  }

  #keep(delivery: Delivery, parcel: Parcel): void {
    this.#deliveries.push(delivery);
    this.#bodies.set(parcel.id, parcel);
    if (this.#deliveries.length <= KEPT) return;
    const oldest = this.#deliveries.shift();
    if (oldest !== undefined) this.#bodies.delete(oldest.id);
  }

  #send(parcel: Parcel): Promise<number | null> {
    const payload: unknown = JSON.parse(parcel.body);
    const action =
      typeof payload === "object" && payload !== null && "action" in payload
        ? textOf(payload.action) || null
        : null;
    const delivery = {
      id: parcel.id,
      event: parcel.event,
      action,
      payload,
      status: null as number | null,
      at: new Date(),
    };
    this.#keep(delivery, parcel);
    const target = this.#target;
    if (target === null) return Promise.resolve(null);
    return this.#queue.run(async () => {
      delivery.status = await post(target, parcel, this.#stop.signal);
      return delivery.status;
    });
  }
}

function noSuch(message: string): CrunchError {
  return new CrunchError({
    code: "EMBEDDED_GITHUB_WEBHOOK",
    message,
    hint: "Set a webhook target and name a delivery that was made.",
  });
}

function post(target: WebhookTarget, parcel: Parcel, stop: AbortSignal): Promise<number | null> {
  const hmac = createHmac("sha256", target.secret).update(parcel.body).digest("hex");
  const signature = parcel.signature === "bad" ? "0".repeat(64) : hmac;
  return new Promise((resolve) => {
    if (stop.aborted) return resolve(null);
    const request = httpRequest(target.url, {
      method: "POST",
      agent: false,
      signal: AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(parcel.body),
        "user-agent": "GitHub-Hookshot/embedded",
        "x-github-event": parcel.event,
        "x-github-delivery": parcel.id,
        "x-github-hook-installation-target-type": "integration",
        ...(parcel.signature === "missing" ? {} : { "x-hub-signature-256": `sha256=${signature}` }),
      },
    });
    request.on("response", (response) => {
      response.resume();
      response.on("close", () => resolve(response.statusCode ?? null));
    });
    request.on("error", () => resolve(null));
    request.end(parcel.body);
  });
}
