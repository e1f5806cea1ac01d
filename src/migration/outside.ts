import { createHash } from "node:crypto";
import { z } from "zod";
import type { Artifact } from "../checkpoint/schema.js";
import type { FileChange } from "../ports.js";

/** What the schemas of older layouts are made of. */
export const Text = z.string().max(1_000_000);
export const Name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._ -]{0,79}$/, "not a name (letters, digits, dots, dashes)");
export const Count = z.number().int().nonnegative();
/** In UTC, as all times of ours are; checked again, because the last hour of the year 9999 leaves the calendar. */
export const Time = z.iso.datetime({ offset: true }).transform(inUtc).pipe(z.iso.datetime());

function inUtc(text: string): string {
  return text.endsWith("Z") ? text : new Date(text).toISOString();
}

/** A relative path that stays where it is put, in whatever folder and on whatever system. */
export function isSafePath(path: string): boolean {
  if (path.length === 0 || path.length > 1000 || /[\p{Cc}\\:]/u.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** A name as a part of a checkpoint's id. */
export function idPart(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return slug === "" ? "imported" : slug;
}

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

export function artifactOf(path: string, content: Buffer): Artifact {
  return { path, hash: sha256(content), size_bytes: content.length };
}

export function added(path: string, content: Buffer): FileChange {
  return { path, mode: "100644", content, status: "added" };
}

/** The bytes of an artifact, by their hash. */
export function storedArtifact(content: Buffer): FileChange {
  return added(`artifacts/${sha256(content)}`, content);
}
