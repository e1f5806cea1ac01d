/** Lets one after the other in. Whoever is in calls what he got to let the next one in; twice does no harm. */
export function createTurns(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let release = () => {};
    last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  };
}
