import type { IncomingHttpHeaders } from "node:http";
import type { Answer } from "./answer.js";
import type { Front } from "./front.js";
import type { Identity } from "./identities.js";
import type { JsonObject } from "./json.js";
import type { Needs } from "./permissions.js";

/** One API request on its way through the front. */
export interface Call {
  readonly front: Front;
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The body as a JSON object; empty when it is none. */
  readonly body: JsonObject;
  readonly identity: Identity;
}

export type Handler = (call: Call) => Promise<Answer>;

export interface Route {
  readonly method: string;
  readonly template: string;
  readonly needs: Needs;
  /** Without one the emulator's answer is right as it is. */
  readonly handle: Handler | undefined;
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

/** `:name` is one segment, `:name*` is one or more. */
export function route(method: string, template: string, needs: Needs, handle?: Handler): Route {
  const names: string[] = [];
  const pattern = template
    .split("/")
    .map((part) => {
      if (!part.startsWith(":")) return part;
      names.push(part.slice(1).replace("*", ""));
      return part.endsWith("*") ? "(.+)" : "([^/]+)";
    })
    .join("/");
  return { method, template, needs, handle, names, pattern: new RegExp(`^${pattern}/?$`) };
}

export function matchRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
  for (const one of routes) {
    if (one.method !== method) continue;
    const match = one.pattern.exec(path);
    if (match === null) continue;
    const values = match.slice(1).map(decode);
    return { route: one, params: Object.fromEntries(one.names.map((name, i) => [name, values[i] ?? ""])) };
  }
  return undefined;
}

export function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
