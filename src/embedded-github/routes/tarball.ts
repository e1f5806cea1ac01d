import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Answer, answer, notFound } from "../answer.js";
import type { Front } from "../front.js";
import { isObject, type JsonObject, listOf, objectOf, textOf } from "../json.js";
import { type Call, route } from "../route.js";
import { paxRecord, type TarEntry, tar } from "../tar.js";

const compress = promisify(gzip);

export const tarballRoutes = [
  route("GET", "/repos/:owner/:repo/tarball", "sign-in", redirect),
  route("GET", "/repos/:owner/:repo/tarball/:ref*", "sign-in", redirect),
  route("GET", "/codeload/:owner/:repo/legacy.tar.gz/:sha", "nothing", download),
];

async function redirect(call: Call): Promise<Answer> {
  const { front } = call;
  const commit = await front.read(`/commits/${encodeURIComponent(call.params.ref ?? "main")}`);
  if (!isObject(commit)) return notFound();
  const { url, owner, repo } = front.parts;
  return answer(302, undefined, {
    location: `${url}/codeload/${owner}/${repo}/legacy.tar.gz/${textOf(commit.sha)}`,
  });
}

async function download(call: Call): Promise<Answer> {
  const { front } = call;
  const { owner, repo } = front.parts;
  const sha = call.params.sha ?? "";
  const commit = await front.read(`/git/commits/${sha}`);
  if (!isObject(commit)) return notFound();
  const tree = await front.readObject(`/git/trees/${textOf(objectOf(commit.tree).sha)}?recursive=1`);
  const top = `${owner}-${repo}-${sha.slice(0, 7)}`;
  const entries = await Promise.all(
    listOf(tree.tree)
      .map(objectOf)
      .filter((entry) => entry.type !== "commit")
      .map((entry) => tarEntry(front, top, entry)),
  );
  const comment: TarEntry = {
    path: "pax_global_header",
    kind: "pax-global",
    content: paxRecord("comment", sha),
  };
  const folder: TarEntry = { path: `${top}/`, kind: "directory", content: Buffer.alloc(0) };
  const date = new Date(textOf(objectOf(commit.committer).date));
  return answer(200, await compress(tar([comment, folder, ...entries], date)), {
    "content-type": "application/x-gzip",
    "content-disposition": `attachment; filename=${top}.tar.gz`,
  });
}

async function tarEntry(front: Front, top: string, entry: JsonObject): Promise<TarEntry> {
  const path = `${top}/${textOf(entry.path)}`;
  if (entry.type === "tree") return { path: `${path}/`, kind: "directory", content: Buffer.alloc(0) };
  const blob = await front.readObject(`/git/blobs/${textOf(entry.sha)}`);
  const kind = entry.mode === "120000" ? "symlink" : entry.mode === "100755" ? "executable" : "file";
  return { path, kind, content: Buffer.from(textOf(blob.content), "base64") };
}
