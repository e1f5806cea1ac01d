import type { JsonObject } from "./json.js";

export const REACTIONS = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"] as const;

export interface Reaction {
  readonly id: number;
  readonly login: string;
  readonly content: string;
  readonly user: JsonObject;
  readonly created_at: string;
}

/** Reactions by what they are on, like `issues/7` or `issues/comments/12`. */
export class Reactions {
  readonly #on = new Map<string, Reaction[]>();
  #lastId = 0;

  list(subject: string): readonly Reaction[] {
    return this.#on.get(subject) ?? [];
  }

  /** A person reacts once with the same content. */
  add(
    subject: string,
    login: string,
    content: string,
    user: JsonObject,
  ): { reaction: Reaction; isNew: boolean } {
    const known = this.list(subject).find((one) => one.login === login && one.content === content);
    if (known !== undefined) return { reaction: known, isNew: false };
    this.#lastId += 1;
    const reaction = { id: this.#lastId, login, content, user, created_at: new Date().toISOString() };
    this.#on.set(subject, [...this.list(subject), reaction]);
    return { reaction, isNew: true };
  }

  remove(subject: string, id: number): void {
    this.#on.set(
      subject,
      this.list(subject).filter((one) => one.id !== id),
    );
  }

  summary(subject: string): Readonly<Record<string, number>> {
    const list = this.list(subject);
    const counts = REACTIONS.map((content) => [
      content,
      list.filter((one) => one.content === content).length,
    ]);
    return { total_count: list.length, ...Object.fromEntries(counts) };
  }
}
