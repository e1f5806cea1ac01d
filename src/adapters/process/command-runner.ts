import type { CommandRunner } from "../../ports.js";
import { childEnvironment, type ExtraEnvironment } from "./child-environment.js";
import { runProcess } from "./run-process.js";
import { neutraliseWorkflowCommands } from "./workflow-commands.js";

export interface CommandRunnerOptions extends ExtraEnvironment {
  readonly redact: (text: string) => string;
  readonly parentEnv?: NodeJS.ProcessEnv;
}

export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  return {
    async run({ argv, directory, timeoutMs, signal }) {
      const { status, exitCode, output, durationMs } = await runProcess({
        argv,
        directory,
        env: childEnvironment(options.parentEnv ?? process.env, options),
        timeoutMs,
        signal,
        redact: options.redact,
      });
      return { status, exitCode, output: neutraliseWorkflowCommands(output), durationMs };
    },
  };
}
