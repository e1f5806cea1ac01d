import { resolve } from "node:path";
import type { AgentContext, AgentResult, AgentRunner, Json } from "../../ports.js";
import { childEnvironment } from "../process/child-environment.js";
import { type ProcessResult, runProcess } from "../process/run-process.js";
import { neutraliseWorkflowCommands } from "../process/workflow-commands.js";
import { type ContractFiles, createContractFiles } from "./contract-files.js";
import { readNotesFile } from "./notes-file.js";
import { makeOutputFolder } from "./output-folder.js";
import { followProgressFile } from "./progress-file.js";
import { ResultFile, type ResultReading, readResultFile } from "./result-file.js";

export interface CommandAgentOptions {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  readonly redact: (text: string) => string;
  readonly parentEnv?: NodeJS.ProcessEnv;
}

/** An agent that is any program: docs/agent-contract.md says how it and Crunch speak. */
export function createCommandAgent(options: CommandAgentOptions): AgentRunner {
  const { redact } = options;
  const clean = (text: string) => neutraliseWorkflowCommands(redact(text));
  return {
    async run({ context, timeoutMs, signal, onProgress }) {
      const files = await createContractFiles(context);
      try {
        await makeOutputFolder(context.workspace, context.output_folder);
        const notesSoFar = async () => {
          const text = await readNotesFile(files.notes);
          return text === null ? null : redact(text);
        };
        const live = { notes: notesSoFar };
        const follower = followProgressFile(files.progress, clean, (progress) => onProgress(progress, live));
        const ended = await runProcess({
          argv: options.command,
          directory: context.workspace,
          env: environment(options, context, files),
          input: `${JSON.stringify(context)}\n`,
          timeoutMs,
          signal,
          redact,
        });
        const { progress, remarks } = await follower.finish();
        const reading = await readResultFile(files.result);
        const result = reading.status === "read" ? reading.result : ResultFile.parse({});
        return {
          status: statusOf(ended, reading),
          exitCode: ended.exitCode,
          summary: clean(summaryOf(options.name, ended, reading)),
          outputs: result.outputs.map(({ name, path, summary }) => ({
            name: clean(name),
            path: redact(path),
            summary: clean(summary),
          })),
          tokenUsage: result.token_usage,
          acceptanceCriteria: mapKeys(result.acceptance_criteria, clean),
          ...(result.data !== undefined && { data: withStrings(result.data, clean) }),
          ...(result.vote !== undefined && { vote: result.vote }),
          notes: await notesSoFar(),
          progress,
          outputTail: neutraliseWorkflowCommands(withRemarks(ended, remarks)),
          durationMs: ended.durationMs,
        };
      } finally {
        await files.remove();
      }
    },
  };
}

function environment(options: CommandAgentOptions, context: AgentContext, files: ContractFiles) {
  const shared = childEnvironment(options.parentEnv ?? process.env, options);
  return {
    ...shared,
    CRUNCH_CONTEXT: files.context,
    CRUNCH_RESULT: files.result,
    CRUNCH_PROGRESS: files.progress,
    CRUNCH_NOTES: files.notes,
    CRUNCH_OUTPUT: resolve(context.workspace, context.output_folder),
  };
}

function statusOf(ended: ProcessResult, reading: ResultReading): AgentResult["status"] {
  if (ended.status === "timed_out" || ended.status === "interrupted") return ended.status;
  return ended.exitCode === 0 && reading.status === "read" ? "succeeded" : "failed";
}

function summaryOf(name: string, ended: ProcessResult, reading: ResultReading): string {
  const agent = `Agent \`${name}\``;
  if (ended.status === "not_started") return `${agent} did not start. ${ended.output}`;
  const end = howItEnded(ended);
  if (reading.status === "malformed")
    return `${agent} ${end}, but its result file is malformed: ${reading.reason}`;
  const said = reading.result.summary;
  if (ended.status === "exited" && ended.exitCode === 0)
    return said || `${agent} finished without a summary.`;
  return said ? `${agent} ${end}. It said: ${said}` : `${agent} ${end}.`;
}

function howItEnded({ status, exitCode, killedBy, durationMs }: ProcessResult): string {
  if (status === "timed_out")
    return `was stopped at its time limit, after ${Math.round(durationMs / 1000)} s`;
  if (status === "interrupted") return "was interrupted";
  return killedBy ? `was ended by ${killedBy}` : `exited with code ${exitCode}`;
}

function withRemarks(ended: ProcessResult, remarks: readonly string[]): string {
  const cut = ended.truncated ? "[crunch: only the end of the output is kept]\n" : "";
  return [cut + ended.output, ...remarks.map((remark) => `[crunch: ${remark}]`)].join("\n");
}

/** A value of JSON with its texts changed. */
function withStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => withStrings(each, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [change(key), withStrings(each, change)]),
  );
}

function mapKeys<T>(record: Readonly<Record<string, T>>, change: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [change(key), value]));
}
