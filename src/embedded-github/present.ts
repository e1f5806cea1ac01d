import type { FrontParts } from "./front-parts.js";
import { isObject, type JsonObject, listOf, numberOf, objectOf, textOf } from "./json.js";

/** Mends the emulator's objects on their way out: pull request heads, issues, reactions and check runs. */
export function present(parts: FrontParts, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => present(parts, one));
  if (!isObject(value)) return value;
  if (isObject(value.head) && isObject(value.base) && "diff_url" in value) return pull(parts, value);
  if ("check_suite" in value && "output" in value) return checkRun(parts, value);
  if (Array.isArray(value.check_runs)) return { ...value, check_runs: present(parts, value.check_runs) };
  const withReactions = isObject(value.reactions) ? reacted(parts, value) : value;
  return "labels_url" in value && "repository_url" in value ? issue(parts, withReactions) : withReactions;
}

function pull(parts: FrontParts, value: JsonObject): JsonObject {
  const known = parts.pulls.get(numberOf(value.number));
  if (known === undefined) return value;
  const statuses = textOf(value.statuses_url).replace(/[^/]*$/, known.sha);
  return {
    ...value,
    head: { ...objectOf(value.head), sha: known.sha },
    statuses_url: statuses,
    _links: { ...objectOf(value._links), statuses: { href: statuses } },
    ...(known.mergeCommit === undefined ? {} : { merge_commit_sha: known.mergeCommit }),
  };
}

function issue(parts: FrontParts, value: JsonObject): JsonObject {
  if (parts.pulls.get(numberOf(value.number)) === undefined) return value;
  const html = textOf(value.html_url).replace("/issues/", "/pull/");
  return {
    ...value,
    html_url: html,
    pull_request: {
      url: textOf(value.url).replace("/issues/", "/pulls/"),
      html_url: html,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      merged_at: null,
    },
  };
}

function reacted(parts: FrontParts, value: JsonObject): JsonObject {
  const subject = /\/(issues\/(?:comments\/)?\d+)$/.exec(textOf(value.url))?.[1];
  if (subject === undefined) return value;
  return {
    ...value,
    reactions: { url: `${textOf(value.url)}/reactions`, ...parts.reactions.summary(subject) },
  };
}

function checkRun(parts: FrontParts, value: JsonObject): JsonObject {
  const known = parts.checks.get(numberOf(value.id));
  const app = parts.apps.find((one) => one.slug === known?.slug);
  return {
    ...value,
    app: app === undefined ? null : { id: app.id, slug: app.slug, name: app.slug },
    output: { ...objectOf(value.output), annotations_count: listOf(known?.annotations).length },
    pull_requests: parts.pulls.openAt(textOf(value.head_sha)).map(({ number, branch, base, sha }) => ({
      number,
      url: `${parts.url}/repos/${parts.owner}/${parts.repo}/pulls/${number}`,
      head: { ref: branch, sha },
      base: { ref: base },
    })),
  };
}
