import type { IssueTracker } from "../../ports.js";
import { createTurns } from "../in-turn.js";
import { Recent } from "../recent.js";
import { isUncertain, orNull, repeated } from "./client.js";
import { cut } from "./cut.js";
import { named, type Repository } from "./repository.js";

const longestComment = 65_536;
const cutNote = "\n\n… (cut here: the comment would be too long for GitHub)";

export interface IssueComments {
  /** How many comments an issue had when it was read. */
  sawCount(issue: number, count: number): void;
  readonly upsert: IssueTracker["upsertComment"];
  readonly replyOnce: IssueTracker["replyOnce"];
}

/** Crunch's own comments, found by the marker they begin with. */
export function createIssueComments(repository: Repository, ownLogin: string): IssueComments {
  const { octokit } = repository;
  const names = named(repository);
  const inTurn = createTurns();
  /** Issues that had no comment at all when they were last looked at: there is nothing to search. */
  const uncommented = new Set<number>();
  /** Replies that are known to be there. */
  const answered = new Recent<string, boolean>(1_000);

  async function findComment(issue: number, marker: string): Promise<number | null> {
    for (let page = 1; ; page++) {
      const { data } = await octokit.issues.listComments({
        ...names,
        issue_number: issue,
        per_page: 100,
        page,
      });
      const own = data.find(({ body, user }) => user?.login === ownLogin && body?.startsWith(marker));
      if (own) return own.id;
      if (data.length < 100) return null;
    }
  }

  /** After a lost answer the comment may be there: look before writing it again. */
  async function createComment(issue: number, marker: string, body: string): Promise<number> {
    uncommented.delete(issue);
    const create = async () =>
      (await octokit.issues.createComment({ ...names, issue_number: issue, body })).data.id;
    try {
      return await create();
    } catch (error) {
      if (!isUncertain(error)) throw error;
      return (await findComment(issue, marker)) ?? create();
    }
  }

  async function upsertComment(
    issue: number,
    marker: string,
    text: string,
    knownId: number | null,
  ): Promise<number> {
    const body = bodyOf(marker, text);
    const id = knownId ?? (uncommented.has(issue) ? null : await findComment(issue, marker));
    if (id === null) return createComment(issue, marker, body);
    const edit = () => octokit.issues.updateComment({ ...names, comment_id: id, body });
    const edited = await orNull(repeated(edit));
    if (edited) return id;
    return knownId === null ? createComment(issue, marker, body) : upsertComment(issue, marker, text, null);
  }

  async function replyOnce(issue: number, marker: string, text: string) {
    const about = `${issue} ${marker}`;
    // Whoever repeats what was answered once must not cost a search each time.
    if (answered.get(about)) return "already there";
    const isThere = (await findComment(issue, marker)) !== null;
    if (!isThere) await createComment(issue, marker, bodyOf(marker, text));
    answered.set(about, true);
    return isThere ? "already there" : "posted";
  }

  return {
    sawCount(issue, count) {
      if (count === 0) uncommented.add(issue);
      else uncommented.delete(issue);
    },
    upsert: (issue, marker, text, knownId) =>
      inTurn(`${issue} ${marker}`, () => upsertComment(issue, marker, text, knownId)),
    replyOnce: (issue, marker, text) => inTurn(`${issue} ${marker}`, () => replyOnce(issue, marker, text)),
  };
}

function bodyOf(marker: string, text: string): string {
  return cut(`${marker}\n${text}`, longestComment, cutNote);
}
