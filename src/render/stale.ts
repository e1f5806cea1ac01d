import type { Freshness, StaleFinding, StaleKind } from "../checkpoint/freshness.js";
import { fenced, plain } from "../markdown.js";

const answers: Readonly<Partial<Record<StaleKind, string>>> = {
  body_changed: "--accept",
  files_changed: "--keep-theirs",
};

/** What has changed since the checkpoint, and the exact comments that answer. */
export function renderStale(freshness: Freshness): string {
  const parts = freshness.findings.map(findingText);
  const flags = freshness.findings.flatMap(({ kind }) => answers[kind] ?? []);
  const goOn = `/crunch resume ${flags.join(" ")}`.trimEnd();
  const lines = [`- \`${goOn}\`: go on with things as they are now`];
  if (flags.includes("--keep-theirs")) {
    const mine = goOn.replace("--keep-theirs", "--keep-mine");
    lines.push(`- \`${mine}\`: put the files back to the checkpoint first, by a commit on top`);
  }
  lines.push("- `/crunch restart`: begin again with the first phase");
  return [
    "**Crunch waits for you**: this issue has changed since the last checkpoint.",
    ...parts,
    `Answer with one of these comments:\n${lines.join("\n")}`,
  ].join("\n\n");
}

/** Why an approval does not count, and how to give it for things as they are now. */
export function renderVoid(findings: readonly StaleFinding[]): string {
  return [
    "**This approval does not count**: what it was asked about has changed since.",
    ...findings.map(findingText),
    "Read what is there now. The question stands again, for things as they are: add the label once more to approve.",
  ].join("\n\n");
}

function findingText({ message, diff }: StaleFinding): string {
  if (diff === null) return plain(message);
  return `${plain(message)}\n\n<details><summary>What changed</summary>\n\n${fenced(diff, "diff")}\n</details>`;
}
