import type { GitHubApp, InstalledRepository } from "../adapters/github/app.js";
import type { CrunchEvent } from "../engine/events.js";
import type { Dependencies } from "./dependencies.js";
import type { EventQueue } from "./event-queue.js";
import { runsToResume, type SweepMemory } from "./resume-runs.js";

export interface SweepOptions {
  readonly app: Pick<GitHubApp, "installations" | "repositoriesOf">;
  readonly queue: EventQueue;
  readonly dependenciesOf: (repository: InstalledRepository) => Dependencies;
  readonly handle: (repository: InstalledRepository, event: CrunchEvent) => Promise<void>;
}

/**
 * Looks through all repos for runs that nobody works on: what an earlier process left in the middle, what another
 * one gave back or died with, and labels that were never heard of. One repo that fails is tried again by itself.
 */
export function createSweep({ app, queue, dependenciesOf, handle }: SweepOptions): () => void {
  const memories = new Map<string, SweepMemory>();

  async function sweepRepository(repository: InstalledRepository): Promise<void> {
    const name = `${repository.owner}/${repository.repo}`;
    const memory = memories.get(name) ?? new Map();
    memories.set(name, memory);
    for (const event of await runsToResume(dependenciesOf(repository), memory))
      queue.submitOnce(`${name}#${event.issue} (${event.kind})`, () => handle(repository, event));
  }

  /** Resolves after the first try, so that repos come one after the other however many there are. */
  function inTurn(what: string, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const isBegun = queue.submitOnce(`looking for unfinished runs${what}`, () => work().finally(resolve));
      if (isBegun !== "accepted") resolve();
    });
  }

  return () =>
    void inTurn("", async () => {
      for (const installation of await app.installations())
        await inTurn(` of installation ${installation}`, async () => {
          for (const repository of await app.repositoriesOf(installation))
            await inTurn(` in ${repository.owner}/${repository.repo}`, () => sweepRepository(repository));
        });
    });
}
