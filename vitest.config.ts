import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // One worker for each processor: most of the time a test waits for a bot, or a git, of its own.
    maxWorkers: "100%",
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
