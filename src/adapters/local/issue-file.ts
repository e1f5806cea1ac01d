import { isUtf8 } from "node:buffer";
import { z } from "zod";
import { CrunchError } from "../../errors.js";
import { type ParsedYaml, parseYaml } from "../../yaml/parse-yaml.js";
import { YamlError } from "../../yaml/yaml-error.js";

const largestFile = 1024 * 1024;
const limits = { maxBytes: 64 * 1024, maxDepth: 20 };

const Names = z.array(z.string().trim().min(1)).nullish();
const FrontMatter = z.looseObject({
  labels: Names,
  assignees: Names,
  state: z.enum(["open", "closed"]).nullish(),
});
type FrontMatter = z.infer<typeof FrontMatter>;

const expected: Readonly<Record<string, string>> = {
  labels: 'a list of names, such as [bug, "state:enrich"]',
  assignees: "a list of names, such as [ana, ben]",
  state: "open or closed",
};

/** An issue as a Markdown file: front matter with labels, assignees and state; `# Title`; the body. */
export interface IssueText {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly isOpen: boolean;
}

/** The file in three parts that make it up again; `yaml` is null when there is no front matter. */
export interface IssueParts {
  readonly opening: string;
  readonly yaml: string | null;
  readonly rest: string;
}

/** `file` is what messages call it. */
export function parseIssue(text: string, file: string): IssueText {
  const parts = splitIssue(text, file);
  const { value } = parseFrontMatter(parts.yaml ?? "", file);
  const heading = /^(?:[ \t]*\r?\n)*#[ \t]+(\S[^\r\n]*)(?:\r?\n|$)/.exec(markdownOf(parts));
  if (heading?.[1] === undefined) {
    const before = text.slice(0, text.length - markdownOf(parts).trimStart().length);
    throw invalid(file, lineCount(before), "the title is missing: expected a line `# Title` here");
  }
  return {
    title: heading[1].trim(),
    body: markdownOf(parts)
      .slice(heading[0].length)
      .replace(/^(?:[ \t]*\r?\n)+/, "")
      .trimEnd(),
    labels: value.labels ?? [],
    assignees: value.assignees ?? [],
    isOpen: value.state !== "closed",
  };
}

export function decodeIssue(bytes: Buffer, file: string): string {
  if (bytes.length > largestFile) throw invalid(file, 1, `the file has more than ${largestFile} bytes`);
  if (!isUtf8(bytes)) throw invalid(file, 1, "the file is not UTF-8 text");
  return bytes.toString("utf8");
}

export function splitIssue(text: string, file: string): IssueParts {
  const opening = /^\uFEFF?---[ \t]*\r?\n/.exec(text)?.[0];
  if (opening === undefined) {
    const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
    return { opening: mark, yaml: null, rest: text.slice(mark.length) };
  }
  const following = text.slice(opening.length);
  const end = /^---[ \t]*\r?$/m.exec(following)?.index;
  if (end === undefined) throw invalid(file, 1, "the front matter that begins here has no closing `---`");
  return { opening, yaml: following.slice(0, end), rest: following.slice(end) };
}

/** Without the line that closes the front matter. */
function markdownOf({ yaml, rest }: IssueParts): string {
  return yaml === null ? rest : rest.replace(/^---[ \t]*(?:\r?\n|$)/, "");
}

export function parseFrontMatter(yaml: string, file: string): ParsedYaml & { readonly value: FrontMatter } {
  // The front matter begins on the file's second line.
  try {
    const parsed = parseYaml(yaml, limits);
    const result = FrontMatter.safeParse(parsed.value ?? {});
    if (result.success) return { ...parsed, value: result.data };
    const path = result.error.issues[0]?.path ?? [];
    const key = String(path[0] ?? "");
    const problem =
      key === "" ? "expected keys with values, such as `state: open`" : `${key}: expected ${expected[key]}`;
    throw invalid(file, parsed.locate(path).line + 1, problem);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw invalid(file, error.line + 1, error.detail, error);
  }
}

export function invalid(file: string, line: number, problem: string, cause?: unknown): CrunchError {
  return new CrunchError({
    code: "issue_file_invalid",
    message: `${file}, line ${line}: ${problem}.`,
    hint: `Correct line ${line} of ${file}, then run Crunch again.`,
    cause,
  });
}

function lineCount(text: string): number {
  return text.split("\n").length;
}
