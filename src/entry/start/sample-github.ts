import { createGitHubStore } from "../../adapters/github/checkpoint-store.js";
import { createClient } from "../../adapters/github/client.js";
import { verifyChain } from "../../app/verify-chain.js";
import { type EmbeddedGitHub, startEmbeddedGitHub } from "../../embedded-github/index.js";
import {
  firstLabelOf,
  type SampleWorkflow,
  sampleFiles,
  sampleIssue,
  sampleOwner,
  sampleRepo,
} from "./sample.js";

const names = { owner: sampleOwner, repo: sampleRepo };

/** The embedded GitHub with the sample repo, and what its owner does there. */
export interface SampleGitHub {
  readonly github: EmbeddedGitHub;
  readonly web: string;
  /** The label that begins the workflow. */
  readonly firstLabel: string;
  openIssue(): Promise<{ readonly number: number; readonly title: string }>;
  label(issue: number, label: string): Promise<void>;
  verify(issue: number): ReturnType<typeof verifyChain>;
  pullRequest(): Promise<number | null>;
}

export async function startSampleGitHub(port: number, workflow: SampleWorkflow): Promise<SampleGitHub> {
  const github = await startEmbeddedGitHub({
    ...names,
    port,
    files: sampleFiles(workflow),
    people: { rita: "read" },
  });
  const octokit = createClient({ baseUrl: github.url, token: github.tokenFor(sampleOwner) });
  return {
    github,
    web: `${github.url}/${sampleOwner}/${sampleRepo}`,
    firstLabel: firstLabelOf(workflow),
    async openIssue() {
      const { data } = await octokit.issues.create({ ...names, ...sampleIssue() });
      return { number: data.number, title: data.title };
    },
    async label(issue, label) {
      await octokit.issues.addLabels({ ...names, issue_number: issue, labels: [label] });
    },
    verify: (issue) =>
      verifyChain(
        createGitHubStore({ octokit, ...names, defaultBranch: "main" }, "crunch/issue-{issue}"),
        issue,
      ),
    async pullRequest() {
      const { data } = await octokit.pulls.list({ ...names, state: "all" });
      return data[0]?.number ?? null;
    },
  };
}
