import type { Gate } from "./gate.js";

/** Passes when a file of the folder exists and has something in it. */
export function outputGate(options: {
  readonly name: string;
  readonly phase: string;
  readonly path: string;
}): Gate {
  return {
    name: options.name,
    type: "output",
    phase: options.phase,
    timeoutMs: 0,
    async evaluate(context) {
      const output = context.outputs.get(options.path);
      if (!output) return failed(options.path, "is missing");
      if (output.isBlank) return failed(options.path, "is there, but empty");
      const summary = `${options.path} is there, ${output.sizeBytes} bytes`;
      return {
        status: "passed",
        summary,
        details: `\`${options.path}\` is there, ${output.sizeBytes} bytes.`,
      };
    },
  };
}

function failed(path: string, how: string) {
  return {
    status: "failed",
    summary: `${path} ${how}`,
    details: `\`${path}\` ${how}. The agent has to write it to the folder in \`$CRUNCH_OUTPUT\`.`,
  } as const;
}
