import { type Answer, succeeded } from "./answer.js";
import type { FrontParts } from "./front-parts.js";
import { type Identity, loginOf } from "./identities.js";
import { type JsonObject, objectOf } from "./json.js";
import { present } from "./present.js";

/** Reaches the emulator and the webhooks in the repository's name. */
export class Front {
  readonly parts: FrontParts;
  readonly #cached = new Map<string, JsonObject>();

  constructor(parts: FrontParts) {
    this.parts = parts;
  }

  get base(): string {
    return `/repos/${this.parts.owner}/${this.parts.repo}`;
  }

  /** Reads below the repository in the owner's name, as callers would see it; undefined when missing. */
  async read(path: string): Promise<unknown> {
    const got = await this.parts.upstream.call("GET", this.base + path);
    return succeeded(got) ? present(this.parts, got.body) : undefined;
  }

  async readObject(path: string): Promise<JsonObject> {
    return objectOf(await this.read(path));
  }

  /** Writes below the repository in the owner's name: for what the front mends behind the caller's back. */
  write(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.parts.upstream.call(method, this.base + path, body);
  }

  async emit(identity: Identity, event: string, payload: JsonObject): Promise<void> {
    const [app] = this.parts.apps;
    this.parts.webhooks.emit(event, {
      ...payload,
      repository: await this.#once(this.base),
      sender: await this.user(loginOf(identity) ?? this.parts.owner),
      installation: { id: app?.installationId },
    });
  }

  user(login: string): Promise<JsonObject> {
    return this.#once(`/users/${encodeURIComponent(login)}`);
  }

  async #once(target: string): Promise<JsonObject> {
    const known = this.#cached.get(target);
    if (known !== undefined) return known;
    const got = objectOf((await this.parts.upstream.call("GET", target)).body);
    this.#cached.set(target, got);
    return got;
  }
}
