import type { Answer } from "./answer.js";
import { present } from "./present.js";
import type { Call } from "./route.js";

interface Change {
  readonly method?: string;
  /** Below the repository. */
  readonly path?: string;
  readonly body?: unknown;
}

/** Sends the caller's own request on to the emulator, changed where a handler says so. */
export async function forward(call: Call, change: Change = {}): Promise<Answer> {
  const { parts, base } = call.front;
  const headers: Record<string, string> = {};
  for (const name of ["authorization", "accept", "user-agent"] as const) {
    const value = call.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const body = change.body === undefined ? call.raw : Buffer.from(JSON.stringify(change.body));
  const target = change.path === undefined ? call.target : base + change.path;
  const method = change.method ?? call.method;
  const got = await parts.upstream.send(method, target, headers, body.length > 0 ? body : undefined);
  return { ...got, body: present(parts, got.body) };
}
