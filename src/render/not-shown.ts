import type { Checkpoint } from "../checkpoint/schema.js";
import { plain, shortened } from "../markdown.js";

/** What to do where the repo forbids Crunch to open pull requests. */
export function renderForbiddenPullRequest(checkpoint: Checkpoint, issueUrl: string): string {
  const { base_branch: base, branch } = checkpoint.issue_snapshot;
  const web = issueUrl.replace(/\/issues\/\d+$/, "");
  const path = [base, branch ?? ""].map(refInUrl).join("...");
  return [
    "**The pull request is yours to open:** this repo does not let Crunch do that.",
    `[Open it for \`${branch}\`](${web}/compare/${path}?expand=1), or turn on *Settings → Actions → General →`,
    "Allow GitHub Actions to create and approve pull requests* and comment `/crunch`.",
  ].join(" ");
}

/** GitHub refused to show a part; the work itself is safe. */
export function renderNotShown(what: string, reason: string): string {
  return `**Not shown:** ${what}. GitHub said: ${plain(shortened(reason, 300))}. The next step tries again.`;
}

/** The slashes of a branch's name stay, brackets would end the link. */
function refInUrl(name: string): string {
  return name
    .split("/")
    .map(encodeURIComponent)
    .join("/")
    .replace(/[()]/g, (found) => (found === "(" ? "%28" : "%29"));
}
