import { z } from "zod";
import { messageOf } from "../../errors.js";
import { readPart } from "./contract-files.js";

const LIMIT = 1024 * 1024;
/** It is part of every checkpoint that follows. */
const mostData = 64 * 1024;
const Count = z.int().nonnegative();

/** What an agent may say about its work. Any part may be missing; what is there has the right type. */
export const ResultFile = z.object({
  summary: z.string().default(""),
  outputs: z
    .array(z.object({ name: z.string(), path: z.string(), summary: z.string().default("") }))
    .max(1_000)
    .default([]),
  token_usage: z
    .object({ input: Count.default(0), output: Count.default(0) })
    .default({ input: 0, output: 0 }),
  acceptance_criteria: z.record(z.string(), z.boolean()).default({}),
  /** For the conditions of the workflow. */
  data: z
    .json()
    .refine((data) => JSON.stringify(data).length <= mostData, `more than ${mostData} characters`)
    .optional(),
  vote: z.enum(["approve", "reject", "abstain"]).optional(),
});
export type ResultFile = z.infer<typeof ResultFile>;

export type ResultReading =
  | { readonly status: "read"; readonly result: ResultFile }
  | { readonly status: "malformed"; readonly reason: string };

export async function readResultFile(path: string): Promise<ResultReading> {
  const part = await readPart(path, 0, LIMIT);
  if (part === null || part.size === 0) return { status: "read", result: ResultFile.parse({}) };
  if (part.size > LIMIT) return malformed(`it has ${part.size} bytes, the limit is ${LIMIT}`);
  try {
    const parsed = ResultFile.safeParse(JSON.parse(part.bytes.toString("utf8")));
    if (parsed.success) return { status: "read", result: parsed.data };
    return malformed(parsed.error.issues.slice(0, 5).map(describe).join("; "));
  } catch (error) {
    return malformed(messageOf(error));
  }
}

function describe(issue: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return issue.path.length === 0 ? issue.message : `\`${issue.path.join(".")}\`: ${issue.message}`;
}

function malformed(reason: string): ResultReading {
  return { status: "malformed", reason };
}
