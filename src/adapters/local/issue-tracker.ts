import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { issueFolder } from "../../checkpoint/layout.js";
import { CrunchError } from "../../errors.js";
import type { Issue, IssueTracker } from "../../ports.js";
import { commentId, hasComment, type OnComment, writeComment } from "./comments.js";
import { decodeIssue, parseIssue } from "./issue-file.js";
import { withLabels } from "./issue-labels.js";
import { readPlain, replaceFile } from "./replace-file.js";

const tries = 5;

export interface LocalIssueTrackerOptions {
  /** The top folder of the checkout. */
  readonly root: string;
  readonly onComment: OnComment;
}

/** Issues as Markdown files of the working tree: `.claude/crunch/<n>/issue.md`, and `comments/` beside it. */
export function createLocalIssueTracker({ root, onComment }: LocalIssueTrackerOptions): IssueTracker {
  const inTurn = oneAfterTheOther();

  async function readText(number: number): Promise<string | null> {
    const bytes = await readPlain(join(root, issueFile(number)));
    return bytes && decodeIssue(bytes, issueFile(number));
  }

  async function find(number: number): Promise<Issue | null> {
    const text = await readText(number);
    if (text === null) return null;
    const url = pathToFileURL(join(root, issueFile(number))).href;
    return { number, ...parseIssue(text, issueFile(number)), url };
  }

  /** People have the file open in their editors: what they save in between is read again, not overwritten. */
  async function editLabels(number: number, edit: (labels: readonly string[]) => readonly string[]) {
    const file = issueFile(number);
    for (let attempt = 1; attempt <= tries; attempt++) {
      const text = await readText(number);
      if (text === null) throw issueMissing(number);
      const { labels } = parseIssue(text, file);
      const wanted = edit(labels);
      if (wanted === labels) return;
      const edited = Buffer.from(withLabels(text, wanted, file));
      if (await replaceFile(join(root, file), edited, Buffer.from(text))) return;
    }
    throw new CrunchError({
      code: "issue_file_busy",
      message: `${file} was changed by somebody else each time Crunch tried to change its labels.`,
      hint: "Wait until nothing else writes to it, then run Crunch again.",
    });
  }

  async function comment(number: number, marker: string, text: string): Promise<void> {
    const folder = join(root, issueFolder(number), "comments");
    // A mistyped number must not leave a folder behind; it is still told.
    if ((await readPlain(join(root, issueFile(number)))) === null) {
      onComment(text, { issue: number, file: "", isNew: true });
      return;
    }
    const { file, status } = await writeComment(folder, { marker, text });
    if (status !== "unchanged") onComment(text, { issue: number, file, isNew: status === "created" });
  }

  return {
    async issue(number) {
      const found = await find(number);
      if (!found) throw issueMissing(number);
      return found;
    },
    async openIssues(labels) {
      const found: Issue[] = [];
      for (const number of await issueNumbers(root)) {
        const issue = await find(number);
        if (issue?.isOpen && labels.some((label) => issue.labels.includes(label))) found.push(issue);
      }
      return found;
    },
    // Whoever can start Crunch here can do all it does by hand.
    permissionOf: async () => "admin",
    // A file does not say who wrote it.
    labeledBy: async () => null,
    addLabel: (number, label) =>
      inTurn(() => editLabels(number, (labels) => (labels.includes(label) ? labels : [...labels, label]))),
    removeLabel: (number, label) =>
      inTurn(() =>
        editLabels(number, (labels) =>
          labels.includes(label) ? labels.filter((each) => each !== label) : labels,
        ),
      ),
    async upsertComment(number, marker, text) {
      await inTurn(() => comment(number, marker, text));
      return commentId(marker);
    },
    replyOnce: (number, marker, text) =>
      inTurn(async () => {
        if (await hasComment(join(root, issueFolder(number), "comments"), marker)) return "already there";
        await comment(number, marker, text);
        return "posted";
      }),
    react: async () => {},
  };
}

function issueFile(number: number): string {
  return `${issueFolder(number)}/issue.md`;
}

/** The folders that have a number for a name. One without an `issue.md` is no issue, only what was made for one. */
async function issueNumbers(root: string): Promise<number[]> {
  const names = await readdir(join(root, ".claude/crunch")).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  return names
    .filter((name) => /^[1-9]\d{0,8}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

function issueMissing(number: number): CrunchError {
  return new CrunchError({
    code: "issue_missing",
    message: `There is no issue ${number} here: ${issueFile(number)} does not exist.`,
    hint: `Write it: a line \`# Title\`, then what is to be done. Then run Crunch again.`,
  });
}

function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}
