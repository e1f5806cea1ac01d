import type { Front } from "../front.js";
import { decode } from "../route.js";
import { issuePage } from "./issue-page.js";
import { blobPage, repoPage, treePage } from "./repo-pages.js";

/** The HTML page at this path, for a person with a browser; undefined when there is none. */
export async function pageAt(front: Front, path: string): Promise<string | undefined> {
  const root = `/${front.parts.owner}/${front.parts.repo}`;
  const below = decode(path).replace(/\/$/, "");
  if (below === root || below === "") return repoPage(front);
  if (!below.startsWith(`${root}/`)) return undefined;
  const match = /^\/(issues|pull|tree|blob)\/(.+)$/.exec(below.slice(root.length));
  const rest = match?.[2] ?? "";
  if (match?.[1] === "tree") return treePage(front, rest);
  if (match?.[1] === "blob") return blobPage(front, rest);
  return /^\d+$/.test(rest) ? issuePage(front, Number(rest)) : undefined;
}
