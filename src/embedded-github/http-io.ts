import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "./answer.js";
import { isKnown, weakEtag } from "./etag.js";

/** Undefined when the caller went away. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

export function withEtag(request: IncomingMessage, one: Answer): Answer {
  const isJson = one.body !== undefined && !Buffer.isBuffer(one.body);
  if (request.method !== "GET" || one.status !== 200 || !isJson) return one;
  const etag = weakEtag(JSON.stringify(one.body));
  if (isKnown(etag, request.headers["if-none-match"]))
    return { status: 304, headers: { etag }, body: undefined };
  return { ...one, headers: { ...one.headers, etag } };
}

export function writeAnswer(response: ServerResponse, one: Answer): void {
  const isEmpty = one.body === undefined || one.status === 204 || one.status === 304;
  const body = isEmpty ? "" : Buffer.isBuffer(one.body) ? one.body : JSON.stringify(one.body);
  response.writeHead(one.status, {
    ...(isEmpty || Buffer.isBuffer(one.body) ? {} : { "content-type": "application/json; charset=utf-8" }),
    ...one.headers,
    ...(one.status === 204 || one.status === 304 ? {} : { "content-length": Buffer.byteLength(body) }),
  });
  response.end(body);
}
