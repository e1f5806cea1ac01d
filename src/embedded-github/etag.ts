import { createHash } from "node:crypto";

export function weakEtag(body: string): string {
  return `W/"${createHash("sha256").update(body).digest("hex")}"`;
}

/** Whether the caller's `If-None-Match` names this tag; weak and strong forms compare alike. */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  const bare = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || bare(tag) === bare(etag));
}
