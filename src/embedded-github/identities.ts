export type Role = "admin" | "maintain" | "write" | "triage" | "read" | "none";

export type Identity =
  | { readonly kind: "anonymous" }
  | { readonly kind: "unknown" }
  | { readonly kind: "app" }
  | { readonly kind: "user"; readonly login: string; readonly role: Role }
  | { readonly kind: "installation"; readonly login: string; readonly slug: string };

/** Who holds which token, and what role each person has in the repository. */
export class Identities {
  readonly #people = new Map<string, string>();
  readonly #installations = new Map<string, string>();
  readonly #roles = new Map<string, Role>();

  addPerson(login: string, role: Role, token: string): void {
    this.#people.set(token, login);
    this.#roles.set(login, role);
  }

  addInstallation(token: string, slug: string): void {
    this.#installations.set(token, slug);
  }

  roleOf(login: string): Role | undefined {
    return this.#roles.get(login);
  }

  setRole(login: string, role: Role): void {
    this.#roles.set(login, role);
  }

  of(authorization: string | undefined): Identity {
    const token = authorization?.replace(/^(bearer|token)\s+/i, "").trim();
    if (!token) return { kind: "anonymous" };
    const login = this.#people.get(token);
    if (login !== undefined) return { kind: "user", login, role: this.#roles.get(login) ?? "none" };
    const slug = this.#installations.get(token);
    if (slug !== undefined) return { kind: "installation", login: `${slug}[bot]`, slug };
    return token.startsWith("eyJ") ? { kind: "app" } : { kind: "unknown" };
  }
}

export function loginOf(identity: Identity): string | null {
  return identity.kind === "user" || identity.kind === "installation" ? identity.login : null;
}
