import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import {
  type EmbeddedGitHub,
  type EmbeddedGitHubOptions,
  startEmbeddedGitHub,
} from "../../src/embedded-github/index.js";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

export const REPO = "/repos/octo/demo";

export async function github(options: Partial<EmbeddedGitHubOptions> = {}): Promise<EmbeddedGitHub> {
  const started = await startEmbeddedGitHub({
    owner: "octo",
    repo: "demo",
    files: { "README.md": "# Demo\n" },
    people: { mia: "maintain", wim: "write", tess: "triage", rob: "read", sam: "none" },
    ...options,
  });
  open.push(started);
  return started;
}

export interface Got {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON answers as they are
  readonly body: any;
}

/** Speaks to the embedded GitHub over HTTP in somebody's name; `null` is nobody. */
export function as(gh: EmbeddedGitHub, token: string | null) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Got> => {
    const response = await fetch(gh.url + path, {
      method,
      redirect: "manual",
      headers: { ...(token === null ? {} : { authorization: `token ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true && text !== "";
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}

export const asOwner = (gh: EmbeddedGitHub) => as(gh, gh.tokenFor("octo"));
export const asActions = (gh: EmbeddedGitHub) => as(gh, gh.actionsToken);
type Api = ReturnType<typeof as>;

export async function commit(
  api: Api,
  files: Record<string, string | null>,
  on?: string,
  message = "change",
) {
  const parent =
    on === undefined ? undefined : (await api("GET", `${REPO}/git/ref/heads/${on}`)).body.object.sha;
  const base = parent && (await api("GET", `${REPO}/git/commits/${parent}`)).body.tree.sha;
  const tree = await api("POST", `${REPO}/git/trees`, {
    ...(base ? { base_tree: base } : {}),
    tree: Object.entries(files).map(([path, content]) => ({
      path,
      mode: "100644",
      type: "blob",
      ...(content === null ? { sha: null } : { content }),
    })),
  });
  const made = await api("POST", `${REPO}/git/commits`, {
    message,
    tree: tree.body.sha,
    parents: parent ? [parent] : [],
  });
  return made.body.sha as string;
}

export async function branch(
  api: Api,
  name: string,
  files: Record<string, string>,
  from: string | undefined = "main",
) {
  const sha = await commit(api, files, from);
  await api("POST", `${REPO}/git/refs`, { ref: `refs/heads/${name}`, sha });
  return sha;
}

interface Received {
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads as they are
  readonly payload: any;
}

/** A webhook receiver. */
export async function receiver(status = 200, waitMs = 0) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    received.push({ headers: request.headers, body, payload: JSON.parse(body) });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const names = () =>
    received.map(({ headers, payload }) =>
      [headers["x-github-event"], payload.action].filter(Boolean).join("."),
    );
  return { received, names, target: { url, secret: "s3cret" } };
}

export const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
