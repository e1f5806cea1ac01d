import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readPlain, replaceFile } from "./replace-file.js";

/** A comment that was written or changed just now, for a person to read. */
export type OnComment = (
  text: string,
  about: { readonly issue: number; readonly file: string; readonly isNew: boolean },
) => void;

/** The name comes from the marker, so that no crash or race can make two files of one comment. */
function commentName(marker: string): string {
  const words = /^<!-- crunch:([a-z0-9_-]+(?::[a-z0-9_-]+)*) -->$/.exec(marker)?.[1];
  return `${words?.replaceAll(":", ".") ?? hashOf(marker).slice(0, 16)}.md`;
}

export function commentId(marker: string): number {
  return Number.parseInt(hashOf(marker).slice(0, 12), 16) + 1;
}

/** Writes the comment into the folder, unless it says so already. */
export async function writeComment(
  folder: string,
  comment: { readonly marker: string; readonly text: string },
): Promise<{ readonly file: string; readonly status: "created" | "edited" | "unchanged" }> {
  const file = join(folder, commentName(comment.marker));
  const content = Buffer.from(`${comment.marker}\n${comment.text.trimEnd()}\n`);
  await mkdir(folder, { recursive: true });
  for (;;) {
    const before = await readPlain(file);
    if (before?.equals(content)) return { file, status: "unchanged" };
    if (await replaceFile(file, content, before)) {
      return { file, status: before === null ? "created" : "edited" };
    }
  }
}

export async function hasComment(folder: string, marker: string): Promise<boolean> {
  return (await readPlain(join(folder, commentName(marker)))) !== null;
}

function hashOf(marker: string): string {
  return createHash("sha256").update(marker).digest("hex");
}
