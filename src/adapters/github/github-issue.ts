import { z } from "zod";
import type { Issue } from "../../ports.js";
import { named, type Repository } from "./repository.js";

/** GitHub's answer about an issue, cut down to what Crunch uses. Payloads of events have the same shape. */
export const GitHubIssue = z
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

/** The open issues that have the label; pull requests are none. */
export async function openWith(repository: Repository, label: string): Promise<Issue[]> {
  const found: Issue[] = [];
  for (let page = 1; ; page++) {
    const query = { ...named(repository), state: "open", labels: label, per_page: 100, page } as const;
    const { data } = await repository.octokit.issues.listForRepo(query);
    found.push(...data.filter((issue) => !issue.pull_request).map((issue) => GitHubIssue.parse(issue)));
    if (data.length < 100) return found;
  }
}
