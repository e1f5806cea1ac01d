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
  /** Logs what failed. Throws where nothing would be tried again by itself. */
  finish(options: { readonly isAtRest: boolean }): void;
}

export function createPartsShown(log: Log, issue: number, needed: readonly string[]): PartsShown {
  const failed: { readonly part: string; readonly error: unknown }[] = [];
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
    finish({ isAtRest }) {
      for (const { part, error } of failed)
        log.warn(`#${issue}: ${part} could not be shown: ${messageOf(error)}`, { event: "not_shown", issue });
      const grave = failed.find(
        ({ part, error }) => needed.includes(part) || isStop(error) || (isAtRest && mayPass(error)),
      );
      if (grave) throw grave.error;
    },
  };
}

const isStop = (error: unknown) => error instanceof CrunchError && error.code === "interrupted";
