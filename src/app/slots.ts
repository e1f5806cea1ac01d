/** Places for work: whoever finds none free waits in line. */
export interface Slots {
  /** Takes a place and tells whether it had to be waited for. The returned function gives it back. */
  take(): Promise<{ readonly waited: boolean; readonly release: () => void }>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const line: (() => void)[] = [];
  function release() {
    const next = line.shift();
    if (next) next();
    else free++;
  }
  return {
    async take() {
      if (free > 0) {
        free--;
        return { waited: false, release };
      }
      await new Promise<void>((resolve) => line.push(resolve));
      return { waited: true, release };
    },
  };
}
