import { readFileSync } from "node:fs";
import * as core from "@actions/core";
import { z } from "zod";
import { neutraliseWorkflowCommands } from "../adapters/process/workflow-commands.js";
import { CrunchError } from "../errors.js";
import type { ActionInput, ActionOutput } from "./action-contract.js";

/** What an Actions runner tells by its environment. */
const Runner = z.object({
  GITHUB_EVENT_NAME: z.string().min(1),
  GITHUB_EVENT_PATH: z.string().min(1),
  GITHUB_REPOSITORY: z.string().regex(/^[^/]+\/[^/]+$/),
  GITHUB_API_URL: z.string().default("https://api.github.com"),
  GITHUB_RUN_ID: z.coerce.number().int().default(0),
  GITHUB_RUN_ATTEMPT: z.coerce.number().int().default(1),
  GITHUB_ACTOR: z.string().default(""),
  GITHUB_WORKFLOW_REF: z.string().default(""),
  GITHUB_WORKSPACE: z.string().default(""),
});
export type Runner = z.infer<typeof Runner>;

const Payload = z.looseObject({
  repository: z.looseObject({ default_branch: z.string() }).optional(),
});
export type Payload = z.infer<typeof Payload>;

export const input = (name: ActionInput) => core.getInput(name);
export const output = (name: ActionOutput, value: string) => core.setOutput(name, value);

/** Warnings and errors escape what they are given; a plain line is obeyed as it is. */
export const say = (message: string) => core.info(neutraliseWorkflowCommands(message));

export function readRunner(): Runner {
  const parsed = Runner.safeParse(process.env);
  if (parsed.success) return parsed.data;
  const names = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  throw new CrunchError({
    code: "not_on_a_runner",
    message: `The environment lacks ${names.join(", ")}.`,
    hint: "This file runs as a GitHub Action. To try Crunch on your machine, use `npm start`.",
  });
}

export function readPayload({ GITHUB_EVENT_PATH: path }: Runner): Payload {
  return Payload.parse(JSON.parse(readFileSync(path, "utf8")));
}

export function readToken(): string {
  const token = input("github-token");
  if (token !== "") {
    core.setSecret(token);
    return token;
  }
  throw new CrunchError({
    code: "no_token",
    message: "The input github-token is empty.",
    hint: "Leave it out to use the job's own token, or give one with write access to contents, issues, pull requests and checks.",
  });
}
