import type { Front } from "../front.js";
import { isObject, listOf, numberOf, objectOf, textOf } from "../json.js";
import { escapeHtml, page } from "./html.js";
import { home } from "./issue-page.js";

/** The repository's issues and branches. */
export async function repoPage(front: Front): Promise<string> {
  const issues = listOf(await front.read("/issues?state=all&per_page=100")).map(objectOf);
  const branches = listOf(await front.read("/branches?per_page=100")).map(objectOf);
  const root = `/${front.parts.owner}/${front.parts.repo}`;
  const issueItems = issues.map((one) => {
    const names = listOf(one.labels).map((label) => textOf(objectOf(label).name));
    const text = `#${numberOf(one.number)} ${textOf(one.title)} ${names.map((name) => `[${name}]`).join(" ")}`;
    return link(`${root}/issues/${numberOf(one.number)}`, text);
  });
  const branchItems = branches.map((one) => link(`${root}/tree/${textOf(one.name)}`, textOf(one.name)));
  return page(
    root.slice(1),
    `<h1>${home(front)}</h1><h2>Issues</h2><ul>${issueItems.join("")}</ul><h2>Branches</h2><ul>${branchItems.join("")}</ul>`,
  );
}

/** A branch's or commit's files. */
export async function treePage(front: Front, ref: string): Promise<string | undefined> {
  const tree = await front.read(`/git/trees/${encodeURIComponent(ref)}?recursive=1`);
  if (!isObject(tree)) return undefined;
  const root = `/${front.parts.owner}/${front.parts.repo}`;
  const files = listOf(tree.tree)
    .map(objectOf)
    .filter((entry) => entry.type === "blob")
    .map((entry) => link(`${root}/blob/${ref}/${textOf(entry.path)}`, textOf(entry.path)));
  return page(ref, `<p class="meta">${home(front)}</p><h1>${escapeHtml(ref)}</h1><ul>${files.join("")}</ul>`);
}

/** One file; where the branch's name ends and the path begins is found by trying, as branches have slashes. */
export async function blobPage(front: Front, refAndPath: string): Promise<string | undefined> {
  const parts = refAndPath.split("/");
  for (let cut = 1; cut < parts.length; cut += 1) {
    const ref = parts.slice(0, cut).join("/");
    const path = parts.slice(cut).join("/");
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const file = await front.read(`/contents/${encoded}?ref=${encodeURIComponent(ref)}`);
    if (!isObject(file)) continue;
    const content = Buffer.from(textOf(file.content), "base64").toString();
    const shown = content.includes("\0") ? "(binary)" : content;
    return page(
      path,
      `<p class="meta">${home(front)} · ${escapeHtml(ref)}</p><h1>${escapeHtml(path)}</h1><pre>${escapeHtml(shown)}</pre>`,
    );
  }
  return undefined;
}

function link(href: string, text: string): string {
  const encoded = href.split("/").map(encodeURIComponent).join("/");
  return `<li><a href="${escapeHtml(encoded)}">${escapeHtml(text)}</a></li>`;
}
