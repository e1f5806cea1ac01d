/**
 * Lets work on the same thing wait for each other. Looking whether something is there and making it are two
 * requests: two events handled at once would both find nothing.
 */
export function createTurns(): <T>(about: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (about, work) => {
    const before = last.get(about) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(about, mine);
    try {
      return await mine;
    } finally {
      if (last.get(about) === mine) last.delete(about);
    }
  };
}
