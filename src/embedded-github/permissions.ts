import { type Answer, refusal } from "./answer.js";
import type { Identity, Role } from "./identities.js";

/** What a route asks of its caller. `app`: check runs, which GitHub lets only Apps write. */
export type Needs = "nothing" | "sign-in" | "triage" | "write" | "admin" | "app";

const rank: Readonly<Record<Role, number>> = { none: 0, read: 1, triage: 2, write: 3, maintain: 4, admin: 5 };

export function hasRole(identity: Identity, role: Role): boolean {
  if (identity.kind === "installation") return rank[role] <= rank.write;
  return identity.kind === "user" && rank[identity.role] >= rank[role];
}

/** The refusal this caller gets, or undefined when the request may go on. */
export function refuse(identity: Identity, needs: Needs): Answer | undefined {
  if (identity.kind === "unknown") return refusal(401, "Bad credentials");
  if (needs === "nothing") return undefined;
  if (identity.kind === "anonymous") return refusal(401, "Requires authentication");
  if (identity.kind === "app") return refusal(401, "A JSON web token could not be used here");
  if (needs === "sign-in") return undefined;
  if (needs === "app") {
    return identity.kind === "installation"
      ? undefined
      : refusal(403, "You must authenticate via a GitHub App.");
  }
  if (hasRole(identity, needs)) return undefined;
  if (identity.kind === "installation") return refusal(403, "Resource not accessible by integration");
  return refusal(
    403,
    needs === "admin"
      ? "Must have admin rights to Repository."
      : "Resource not accessible by personal access token",
  );
}

/** The older four-step `permission` that GitHub answers beside the exact `role_name`. */
export function legacyPermission(role: Role): "admin" | "write" | "read" | "none" {
  if (role === "maintain") return "write";
  return role === "triage" ? "read" : role;
}
