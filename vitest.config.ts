import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // One worker for each processor: most of the time a test waits for a bot, or a git, of its own.
    maxWorkers: "100%",
    // Files share a worker's modules: they hold no state of their own, and loading them anew takes a tenth of the time.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
