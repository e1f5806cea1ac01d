import type { Permission } from "../ports.js";
import type { Decision, RefusalCode } from "./decision.js";

export function refuse(code: RefusalCode, detail: string, removeLabel: string | null = null): Decision {
  return { kind: "refuse", code, detail, removeLabel, restoreLabel: null };
}

const rank: Readonly<Record<Permission, number>> = { none: 0, read: 1, triage: 2, write: 3, admin: 4 };

export function mayDo(has: Permission, needed: Permission): boolean {
  return rank[has] >= rank[needed];
}
