import { mayPass } from "../engine/keep-trying.js";
import { CrunchError, messageOf } from "../errors.js";
import type { Log } from "../ports.js";
import { renderNotShown } from "../render/not-shown.js";

/** Shows one part after the other although some fail: none of them may keep the others, or the run, from going on. */
export interface PartsShown {
  /** What `show` gives; `otherwise` when GitHub does not let it. */
  attempt<T, U>(part: string, show: () => Promise<T>, otherwise: U): Promise<T | U>;
  /** For the people on the issue. */
  remarks(): readonly string[];
  /** Whether something has to be shown again that nobody would try by himself. */
  isGrave(options: { readonly isAtRest: boolean }): boolean;
  /** Logs what failed, and throws what is grave. */
  finish(options: { readonly isAtRest: boolean }): void;
}

export function createPartsShown(log: Log, issue: number, needed: readonly string[]): PartsShown {
  const failed: { readonly part: string; readonly error: unknown }[] = [];
  const firstGrave = (isAtRest: boolean) =>
    failed.find(({ part, error }) => needed.includes(part) || isStop(error) || (isAtRest && mayPass(error)));
  return {
    async attempt(part, show, otherwise) {
      try {
        return await show();
      } catch (error) {
        failed.push({ part, error });
        return otherwise;
      }
    },
    remarks: () => failed.map(({ part, error }) => renderNotShown(part, messageOf(error))),
    isGrave: ({ isAtRest }) => firstGrave(isAtRest) !== undefined,
    finish({ isAtRest }) {
      for (const { part, error } of failed)
        log.warn(`#${issue}: ${part} could not be shown: ${messageOf(error)}`, { event: "not_shown", issue });
      const grave = firstGrave(isAtRest);
      if (grave) throw grave.error;
    },
  };
}

const isStop = (error: unknown) => error instanceof CrunchError && error.code === "interrupted";
