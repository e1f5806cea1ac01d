import { z } from "zod";
import type { Issue, IssueTracker, Permission } from "../../ports.js";
import { createTurns } from "../in-turn.js";
import { isUncertain, orNull, repeated, statusOf } from "./client.js";
import { cut } from "./cut.js";
import { named, type Repository } from "./repository.js";

const longestComment = 65_536;
const cutNote = "\n\n… (cut here: the comment would be too long for GitHub)";

/** GitHub's answer about an issue, cut down to what Crunch uses. Payloads of events have the same shape. */
const GitHubIssue = z
  .object({
    number: z.number().int().positive(),
    title: z.string(),
    body: z.string().nullish(),
    state: z.string(),
    html_url: z.string(),
    labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
    assignees: z.array(z.object({ login: z.string() })).nullish(),
    pull_request: z.unknown().optional(),
  })
  .transform(
    (issue): Issue => ({
      number: issue.number,
      title: issue.title,
      body: issue.body ?? "",
      labels: issue.labels.map((label) => (typeof label === "string" ? label : (label.name ?? ""))),
      assignees: (issue.assignees ?? []).map(({ login }) => login),
      isOpen: issue.state === "open",
      url: issue.html_url,
    }),
  );

/** `ownLogin` is who writes Crunch's comments: a marker in anybody else's comment means nothing. */
export function createIssueTracker(repository: Repository, ownLogin: string): IssueTracker {
  const { octokit } = repository;
  const names = named(repository);
  const inTurn = createTurns();
  /** Issues that had no comment at all when they were last looked at: there is nothing to search. */
  const uncommented = new Set<number>();

  async function findComment(issue: number, marker: string): Promise<number | null> {
    for (let page = 1; ; page++) {
      const { data } = await octokit.issues.listComments({
        ...names,
        issue_number: issue,
        per_page: 100,
        page,
      });
      const own = data.find(({ body, user }) => user?.login === ownLogin && body?.startsWith(marker));
      if (own) return own.id;
      if (data.length < 100) return null;
    }
  }

  /** After a lost answer the comment may be there: look before writing it again. */
  async function createComment(issue: number, marker: string, body: string): Promise<number> {
    uncommented.delete(issue);
    const create = async () =>
      (await octokit.issues.createComment({ ...names, issue_number: issue, body })).data.id;
    try {
      return await create();
    } catch (error) {
      if (!isUncertain(error)) throw error;
      return (await findComment(issue, marker)) ?? create();
    }
  }

  async function upsertComment(
    issue: number,
    marker: string,
    text: string,
    knownId: number | null,
  ): Promise<number> {
    const body = bodyOf(marker, text);
    const id = knownId ?? (uncommented.has(issue) ? null : await findComment(issue, marker));
    if (id === null) return createComment(issue, marker, body);
    const edit = () => octokit.issues.updateComment({ ...names, comment_id: id, body });
    const edited = await orNull(repeated(edit));
    if (edited) return id;
    return knownId === null ? createComment(issue, marker, body) : upsertComment(issue, marker, text, null);
  }

  return {
    async issue(number) {
      const { data } = await octokit.issues.get({ ...names, issue_number: number });
      if (data.comments === 0) uncommented.add(number);
      else uncommented.delete(number);
      return GitHubIssue.parse(data);
    },
    async openIssues() {
      const found: Issue[] = [];
      for (let page = 1; ; page++) {
        const { data } = await octokit.issues.listForRepo({ ...names, state: "open", per_page: 100, page });
        found.push(...data.filter((issue) => !issue.pull_request).map((issue) => GitHubIssue.parse(issue)));
        if (data.length < 100) return found;
      }
    },
    async permissionOf(login) {
      const found = await orNull(octokit.repos.getCollaboratorPermissionLevel({ ...names, username: login }));
      if (!found) return "none";
      const { permission, role_name } = found.data;
      if (permission === "read" && role_name === "triage") return "triage";
      return z.enum(["admin", "write", "read", "none"]).catch("none").parse(permission) satisfies Permission;
    },
    async labeledBy(issue, label) {
      let last: { login: string; at: string } | null = null;
      for (let page = 1; ; page++) {
        const query = { ...names, issue_number: issue, per_page: 100, page };
        const { data } = await octokit.issues.listEvents(query);
        for (const event of data) {
          if (event.event !== "labeled" || !("label" in event) || event.label?.name !== label) continue;
          last = { login: event.actor.login, at: event.created_at };
        }
        if (data.length < 100) return last;
      }
    },
    async addLabel(issue, label) {
      await repeated(() => octokit.issues.addLabels({ ...names, issue_number: issue, labels: [label] }));
    },
    async removeLabel(issue, label) {
      const remove = () => octokit.issues.removeLabel({ ...names, issue_number: issue, name: label });
      await orNull(repeated(remove));
    },
    upsertComment: (issue, marker, text, knownId) =>
      inTurn(`${issue} ${marker}`, () => upsertComment(issue, marker, text, knownId)),
    replyOnce: (issue, marker, text) =>
      inTurn(`${issue} ${marker}`, async () => {
        if ((await findComment(issue, marker)) !== null) return "already there";
        await createComment(issue, marker, bodyOf(marker, text));
        return "posted";
      }),
    async react(commentId, content) {
      try {
        await octokit.reactions.createForIssueComment({ ...names, comment_id: commentId, content });
      } catch (error) {
        // A reaction is a courtesy; the comment may be gone.
        if (statusOf(error) !== 404 && !isUncertain(error)) throw error;
      }
    },
  };
}

function bodyOf(marker: string, text: string): string {
  return cut(`${marker}\n${text}`, longestComment, cutNote);
}
