import { z } from "zod";
import type { Issue, IssueTracker, Permission } from "../../ports.js";
import { isUncertain, orNull, repeated, statusOf } from "./client.js";
import { GitHubIssue, openWith } from "./github-issue.js";
import { createIssueComments } from "./issue-comments.js";
import { named, type Repository } from "./repository.js";

export interface IssueTrackerOptions {
  /** Who writes Crunch's comments: a marker in anybody else's comment means nothing. */
  readonly ownLogin: string;
  /** Logins that count as having write access. GitHub knows the access of people, and not of bots. */
  readonly trusted?: readonly string[];
}

export function createIssueTracker(repository: Repository, options: IssueTrackerOptions): IssueTracker {
  const { ownLogin, trusted = [] } = options;
  const { octokit } = repository;
  const names = named(repository);
  const comments = createIssueComments(repository, ownLogin);

  return {
    async issue(number) {
      const { data } = await octokit.issues.get({ ...names, issue_number: number });
      comments.sawCount(number, data.comments);
      return GitHubIssue.parse(data);
    },
    async openIssues(labels) {
      const found = new Map<number, Issue>();
      // One label a query: several in one would mean all of them. All issues would be too many in a large repo.
      for (const label of labels)
        for (const issue of await openWith(repository, label)) found.set(issue.number, issue);
      return [...found.values()].sort((a, b) => a.number - b.number);
    },
    async permissionOf(login) {
      if (trusted.includes(login)) return "write";
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
        // What Crunch itself labels is nobody's wish, whether it is a bot or acts with a person's token.
        if (data.length < 100) return last?.login === ownLogin ? null : last;
      }
    },
    async addLabel(issue, label) {
      await repeated(() => octokit.issues.addLabels({ ...names, issue_number: issue, labels: [label] }));
    },
    async removeLabel(issue, label) {
      const remove = () => octokit.issues.removeLabel({ ...names, issue_number: issue, name: label });
      await orNull(repeated(remove));
    },
    upsertComment: comments.upsert,
    replyOnce: comments.replyOnce,
    async react(commentId, content) {
      try {
        await octokit.reactions.createForIssueComment({ ...names, comment_id: commentId, content });
      } catch (error) {
        // A reaction is a courtesy; the comment may be gone, or the conversation locked.
        if (![403, 404].includes(statusOf(error) ?? 0) && !isUncertain(error)) throw error;
      }
    },
  };
}
