import { expect, it } from "vitest";
import type { InstalledRepository } from "../../src/adapters/github/app.js";
import type { Dependencies } from "../../src/app/dependencies.js";
import { createEventQueue } from "../../src/app/event-queue.js";
import { createSweep } from "../../src/app/sweep.js";

const repository = (installationId: number, repo: string): InstalledRepository => ({
  ...{ owner: "octo", repo, defaultBranch: "main", installationId },
});

it("an installation or a repo that fails does not keep the others from being looked at", async () => {
  const looked: string[] = [];
  const stop = new AbortController();
  const log = { info() {}, warn() {}, error() {} };
  const queue = createEventQueue({ log, signal: stop.signal });
  const app = {
    installations: async () => [1, 2],
    repositoriesOf: async (id: number) => {
      if (id === 1) throw new Error("no token for it");
      return [repository(id, "broken"), repository(id, "fine")];
    },
  };
  const dependenciesOf = ({ repo }: InstalledRepository) => {
    const readFile = async () => {
      looked.push(repo);
      if (repo === "broken") throw new Error("no such repo");
      return null;
    };
    return { readFile } as unknown as Dependencies;
  };
  const sweep = createSweep({ app, queue, dependenciesOf, handle: async () => {} });
  sweep();
  while (!looked.includes("fine")) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(looked).toEqual(["broken", "fine"]);
  // What failed waits for its next try and is not looked at twice.
  sweep();
  while (looked.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(looked).toEqual(["broken", "fine", "fine"]);
  stop.abort();
  await queue.settled();
});
