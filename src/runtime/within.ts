import { CrunchError } from "../errors.js";

/** Does `work` within a time limit, and until the session is asked to stop. The signal it gets tells it of both. */
export async function within<T>(
  what: string,
  limitMs: number | undefined,
  stop: AbortSignal,
  work: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  if (limitMs === undefined) return Promise.race([work(stop), stopOf(stop)]);
  const own = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = timeLimit(what, limitMs);
      own.abort(error);
      reject(error);
    }, limitMs);
  });
  try {
    return await Promise.race([work(AbortSignal.any([stop, own.signal])), late, stopOf(stop)]);
  } finally {
    clearTimeout(timer);
  }
}

const stops = new WeakMap<AbortSignal, Promise<never>>();

/** One listener for all who wait: thousands of them would each take longer to add and to remove. */
function stopOf(signal: AbortSignal): Promise<never> {
  const known = stops.get(signal);
  if (known) return known;
  const stop = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  // Nobody may be waiting when it comes.
  stop.catch(() => {});
  stops.set(signal, stop);
  return stop;
}

function timeLimit(what: string, limitMs: number): CrunchError {
  return new CrunchError({
    code: "time_limit",
    message: `${what} ran into its time limit of ${limitMs} ms.`,
    hint: "Give it more time in `timeLimits`, or do less in it.",
  });
}
