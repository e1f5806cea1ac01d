import type { Front } from "../front.js";
import { issueFromPull } from "../issue-changes.js";
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "../json.js";
import { escapeHtml, page, prose } from "./html.js";

/** An issue or a pull request, with its checks and comments. */
export async function issuePage(front: Front, number: number): Promise<string | undefined> {
  const isPull = front.parts.pulls.get(number) !== undefined;
  const raw = await front.read(isPull ? `/pulls/${number}` : `/issues/${number}`);
  if (!isObject(raw)) return undefined;
  const issue = isPull ? issueFromPull(raw) : raw;
  const comments = listOf(await front.read(`/issues/${number}/comments?per_page=100`)).map(objectOf);
  const title = `${textOf(issue.title)} #${number}`;
  return page(
    title,
    `<p class="meta">${home(front)}</p><h1>${escapeHtml(title)}</h1>
<p class="meta">${escapeHtml(textOf(issue.state))} · opened by ${login(issue)}</p><p>${labels(issue)}</p>
${isPull ? await checks(front, raw) : await linkedPulls(front, number)}
<article>${prose(textOf(issue.body), rootOf(front))}</article>
${comments.map((one) => `<article><p class="meta">${login(one)} · ${escapeHtml(textOf(one.created_at))}</p>${prose(textOf(one.body), rootOf(front))}</article>`).join("\n")}`,
  );
}

const rootOf = (front: Front): string => `/${front.parts.owner}/${front.parts.repo}`;

export function home(front: Front): string {
  const name = `${front.parts.owner}/${front.parts.repo}`;
  return `<a href="/${escapeHtml(name)}">${escapeHtml(name)}</a>`;
}

const login = (of: JsonObject): string => escapeHtml(textOf(objectOf(of.user).login));

const labels = (issue: JsonObject): string =>
  listOf(issue.labels)
    .map((label) => `<span class="label">${escapeHtml(textOf(objectOf(label).name))}</span>`)
    .join("");

async function linkedPulls(front: Front, number: number): Promise<string> {
  const pulls = listOf(await front.read("/pulls?state=all&per_page=100")).map(objectOf);
  const mention = new RegExp(`#${number}\\b`);
  const inBranch = new RegExp(`issue-${number}(?!\\d)`);
  const linked = pulls.filter(
    (pull) => mention.test(textOf(pull.body)) || inBranch.test(textOf(objectOf(pull.head).ref)),
  );
  const shown = await Promise.all(linked.map((pull) => checks(front, pull)));
  return linked
    .map((pull, i) => {
      const href = `/${front.parts.owner}/${front.parts.repo}/pull/${numberOf(pull.number)}`;
      return `<h2><a href="${escapeHtml(href)}">Pull request #${numberOf(pull.number)}</a></h2>${shown[i]}`;
    })
    .join("");
}

async function checks(front: Front, pull: JsonObject): Promise<string> {
  const sha = textOf(objectOf(pull.head).sha);
  const { check_runs } = await front.readObject(`/commits/${sha}/check-runs`);
  const items = listOf(check_runs)
    .map(objectOf)
    .map((run) => {
      const state = textOf(run.conclusion) || textOf(run.status);
      const title = textOf(objectOf(run.output).title);
      return `<li>${escapeHtml(textOf(run.name))}: <b>${escapeHtml(state)}</b> ${escapeHtml(title)}</li>`;
    });
  return items.length === 0 ? "" : `<h2>Checks</h2><ul>${items.join("")}</ul>`;
}
