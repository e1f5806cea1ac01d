import type { CheckpointDiff } from "../checkpoint/diff.js";
import type { TextDiff } from "../checkpoint/text-diff.js";
import {
  type Block,
  type Line,
  lineCount,
  type Mark,
  nameOf,
  type Section,
  signed,
  size,
} from "./diff-view.js";

/** What differs in files: what agents produced, their notes, and the code. */
export function fileSections(diff: CheckpointDiff): readonly Section[] {
  return [artifacts(diff), notes(diff), code(diff)];
}

function artifacts({ parts }: CheckpointDiff): Section {
  const items = parts.artifacts.map(({ path, kind, before, after, sizeDelta, diff }) => {
    const bytes =
      before && after
        ? `${size(after.size_bytes)} (${signed(sizeDelta)} bytes)`
        : size((after ?? before)?.size_bytes ?? 0);
    const name = kind === "removed" ? nameOf(path) : { name: path, file: path };
    return { mark: kind as Mark, line: [name, ` ${kind}, ${bytes}${lines(diff)}`] };
  });
  const blocks = parts.artifacts.flatMap(({ path, kind, diff }) =>
    kind === "removed" ? [] : block([nameOf(path)], diff),
  );
  return { title: "What agents produced", items, blocks };
}

function notes({ parts }: CheckpointDiff): Section {
  const items = parts.notes.map(({ agent, kind, diff }) => {
    const file = `notes/${agent}.md`;
    const name = kind === "removed" ? nameOf(file) : { name: file, file };
    return { mark: kind as Mark, line: [name, ` ${kind}${lines(diff)}`] };
  });
  return {
    title: "Notes",
    items,
    blocks: parts.notes.flatMap(({ agent, diff }) => block(["Notes of ", nameOf(agent)], diff)),
  };
}

/** A phase lists the files that it changed itself, so those of another phase are not missed. */
function code({ parts, newer }: CheckpointDiff): Section {
  const marks = { added: "added", modified: "changed", deleted: "removed" } as const;
  const items = parts.files
    .filter(({ after }) => after !== null || parts.phase === null)
    .map(({ path, before, after }) => ({
      mark: after === null ? ("none" as const) : marks[after],
      line: [nameOf(path), ` ${fileWords(before, after, parts.phase !== null)}`],
    }));
  return { title: parts.phase ? `Code changed by ${newer.phase}` : "Code", items, blocks: [] };
}

/** Both may have changed the other files too: only names are compared here. */
function fileWords(before: string | null, after: string | null, isOtherPhase: boolean): string {
  if (before !== null && after !== null) return `${before} → ${after}`;
  if (isOtherPhase) return after ?? `${before}`;
  return after === null ? `was ${before}, untouched now` : `${after}, untouched before`;
}

function lines(diff: TextDiff | null): string {
  return diff === null ? "" : `, ${lineCount(diff)}`;
}

function block(title: Line, diff: TextDiff | null): Block[] {
  return diff === null ? [] : [{ title, text: diff.unified, language: "diff" }];
}
