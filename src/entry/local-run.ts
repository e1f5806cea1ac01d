import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import colors from "picocolors";
import { createFileStore } from "../adapters/fs/checkpoint-store.js";
import { openLocalGit } from "../adapters/local/git.js";
import { parseIssue } from "../adapters/local/issue-file.js";
import { removeLeftovers } from "../adapters/process/leftovers.js";
import { compareWithNotes } from "../app/compare.js";
import type { Dependencies } from "../app/dependencies.js";
import { handleEvent } from "../app/handle-event.js";
import { createLocalDependencies, localUser } from "../app/local-dependencies.js";
import { checkpointOf, type Outcome } from "../app/outcome.js";
import { defaultLayout } from "../checkpoint/layout.js";
import { parseArguments } from "../commands/parse.js";
import type { CrunchEvent } from "../engine/events.js";
import { randomHex } from "../engine/session.js";
import { CrunchError } from "../errors.js";
import type { CheckpointStore } from "../ports.js";
import { createRedactor, secretsIn } from "../redact.js";
import { renderDiffText } from "../render/diff.js";
import { createTerminal, terminalLog } from "./terminal.js";

export interface LocalRunOptions {
  readonly directory: string;
  readonly issue: number;
  /** What would follow `/crunch` in a comment; nothing starts or goes on. */
  readonly words: readonly string[];
  /** The issue's text, for an issue that is new here. */
  readonly issueFile: string | null;
  /** A label to add, which asks for something as it does on GitHub. */
  readonly label: string | null;
}

/** Works on an issue of a plain git checkout, with no GitHub. Returns the exit code. */
export async function runLocally(options: LocalRunOptions): Promise<number> {
  const terminal = createTerminal((text) => process.stdout.write(text));
  await removeLeftovers();
  const { root } = await openLocalGit(options.directory);
  prepareIssue(root, options);
  const dependencies = await createLocalDependencies({
    root,
    store: (_branch, storage) => createFileStore(root, { storage }),
    redact: createRedactor(secretsIn(process.env)),
    log: terminalLog(terminal),
    signal: stopSignal(() => terminal.warn("stopping: the work so far is being saved")),
    onComment: () => {},
    onCheck: () => {},
  });
  if (await differsFromCommitted(root, dependencies)) {
    terminal.warn(".github/crunch.yml has changes that are not committed; the committed one counts");
  }
  if (options.label !== null) await dependencies.tracker.addLabel(options.issue, options.label);
  const event = eventFor(options);
  if (event.kind === "command" && event.command.name === "diff") {
    terminal.say(await diffText(createFileStore(root), options.issue, event.command));
    return 0;
  }
  const outcome = await handleEvent(dependencies, event);
  terminal.say(`\n${inLocalWords("text" in outcome ? outcome.text : outcome.reason, options.issue)}`);
  terminal.say(`\n${colors.dim(whereToLook(root, options.issue, outcome))}`);
  return ["failed", "refused"].includes(outcome.status) ? 1 : outcome.status === "interrupted" ? 130 : 0;
}

function eventFor({ issue, words, label }: LocalRunOptions): CrunchEvent {
  const parsed = parseArguments(words.join(" "));
  // Each call is a wish of its own.
  const about = { issue, actor: localUser(), commentId: null, key: `local:${randomHex().slice(0, 16)}` };
  if (label !== null) return { kind: "labeled", ...about, label };
  if (parsed.status === "unknown") return { kind: "bad_command", ...about, problem: parsed.problem };
  return { kind: "command", ...about, command: parsed.command };
}

async function diffText(
  store: CheckpointStore,
  issue: number,
  ids: { before: string; after: string },
): Promise<string> {
  const load = async (id: string) => {
    const found = id === "latest" ? await store.latest(issue) : await store.load(issue, id);
    if (found) return found;
    throw new CrunchError({
      code: "unknown_checkpoint",
      message: `There is no checkpoint ${id} of issue ${issue} here.`,
      hint: "`checkpoints/index.yaml` in the issue's folder lists them.",
    });
  };
  const diff = await compareWithNotes(store, await load(ids.before), await load(ids.after));
  return renderDiffText(diff, { color: colors.isColorSupported, width: process.stdout.columns ?? 100 });
}

/** What would be a comment on GitHub is a command here. */
function inLocalWords(text: string, issue: number): string {
  return text
    .replace(/\bcomment `\/crunch/g, `run \`crunch run ${issue}`)
    .replace(/\bComment `\/crunch/g, `Run \`crunch run ${issue}`)
    .replace(/`\/crunch/g, `\`crunch run ${issue}`)
    .replace(/^\/crunch/gm, `crunch run ${issue}`)
    .replace(/\b(one of these comments|a comment like this)\b/g, "one of these commands");
}

function prepareIssue(root: string, { issue, issueFile }: LocalRunOptions): void {
  const target = join(root, defaultLayout.folder(issue), "issue.md");
  if (existsSync(target)) return;
  if (issueFile === null || !existsSync(issueFile)) {
    const missing = issueFile === null ? "" : ` The file ${issueFile} does not exist either.`;
    throw new CrunchError({
      code: "no_issue_file",
      message: `There is no issue ${issue} here: ${target} does not exist.${missing}`,
      hint: "Write the issue into a Markdown file that begins with `# Title`, and name it with --issue-file.",
    });
  }
  const text = readFileSync(issueFile);
  // Refused before it is taken over, so that the corrected file is taken next time.
  parseIssue(text.toString("utf8"), issueFile);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text, { flag: "wx" });
}

async function differsFromCommitted(root: string, { readFile }: Dependencies): Promise<boolean> {
  const path = join(root, ".github/crunch.yml");
  const working = existsSync(path) ? readFileSync(path, "utf8") : null;
  return working !== (await readFile(".github/crunch.yml"));
}

/** Told to stop once, it saves and ends; told twice, it ends at once. */
function stopSignal(onStop: () => void): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(130);
      onStop();
      stop.abort("user_interrupt");
    });
  }
  return stop.signal;
}

function whereToLook(root: string, issue: number, outcome: Outcome): string {
  const snapshot = checkpointOf(outcome)?.issue_snapshot;
  const code = snapshot?.branch ? `code: git diff ${snapshot.base_branch}...${snapshot.branch}\n` : "";
  const next = outcome.status === "interrupted" ? `go on: crunch run ${issue}\n` : "";
  return `${next}${code}checkpoints: ${join(root, defaultLayout.folder(issue), defaultLayout.chain)}`;
}
