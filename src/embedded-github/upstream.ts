import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type Answer, answer } from "./answer.js";
import { parseJson } from "./json.js";

/** The emulator answers 403 after 5,000 requests a token, and takes any token it does not know for the owner's. */
const REQUESTS_PER_TOKEN = 4_000;

const PASSED_ON = ["content-type", "link", "location", "retry-after"];

/** The emulator behind the front. */
export class Upstream {
  readonly #agent = new Agent({ keepAlive: true, timeout: 3_000 });
  readonly #origin: string;
  readonly #port: number;
  readonly #frontUrl: string;
  #token = randomUUID();
  #used = 0;

  constructor(url: string, frontUrl: string) {
    this.#origin = new URL(url).origin;
    this.#port = Number(new URL(url).port);
    this.#frontUrl = frontUrl;
  }

  /** A request in the name of the repository's owner that no log and no limit counts. */
  call(method: string, target: string, body?: unknown): Promise<Answer> {
    this.#used += 1;
    if (this.#used % REQUESTS_PER_TOKEN === 0) this.#token = randomUUID();
    const raw = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return this.send(method, target, { authorization: `token ${this.#token}` }, raw);
  }

  send(method: string, target: string, headers: Record<string, string>, body?: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        host: "127.0.0.1",
        port: this.#port,
        agent: this.#agent,
        method,
        path: target,
        headers: {
          ...headers,
          host: new URL(this.#origin).host,
          ...(body === undefined
            ? {}
            : { "content-length": String(body.length), "content-type": "application/json" }),
        },
      });
      request.on("error", reject);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve(this.#read(response.statusCode ?? 502, response.headers, Buffer.concat(chunks))),
        );
      });
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** The emulator advertises its own address; callers must only ever see the front's. */
  #read(status: number, from: IncomingHttpHeaders, raw: Buffer): Answer {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(from)) {
      if (typeof value !== "string") continue;
      if (PASSED_ON.includes(name) || name.startsWith("x-ratelimit")) {
        headers[name] = value.replaceAll(this.#origin, this.#frontUrl);
      }
    }
    if (!headers["content-type"]?.includes("json")) return answer(status, raw, headers);
    return answer(status, parseJson(raw.toString().replaceAll(this.#origin, this.#frontUrl)), headers);
  }
}
