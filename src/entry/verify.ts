import { createGitHubStore } from "../adapters/github/checkpoint-store.js";
import { createClient } from "../adapters/github/client.js";
import { verifyChain } from "../app/verify-chain.js";
import { CrunchError } from "../errors.js";

/** Prints what is wrong with an issue's chain, and exits with 1 if anything is. */
export async function verify(text: string, storageBranch: string, env: NodeJS.ProcessEnv): Promise<number> {
  const match = /^([\w.-]+)\/([\w.-]+)#([1-9]\d{0,9})$/.exec(text);
  if (!match) {
    throw new CrunchError({
      code: "issue_invalid",
      message: `"${text}" names no issue.`,
      hint: "Write it as owner/repo#number, for example octo/durations#1.",
    });
  }
  const [, owner = "", repo = "", number = ""] = match;
  const octokit = createClient({
    baseUrl: env.GITHUB_API_URL ?? "https://api.github.com",
    token: env.GITHUB_TOKEN ?? "",
  });
  const store = createGitHubStore({ octokit, owner, repo, defaultBranch: "" }, storageBranch);
  const { chain, problems } = await verifyChain(store, Number(number));
  for (const { created_at, checkpoint_id, trigger, phase } of chain.index) {
    console.log(`${created_at}  ${checkpoint_id}  ${phase}: ${trigger}`);
  }
  for (const problem of problems) console.log(`wrong: ${problem}`);
  const count = chain.index.length;
  if (problems.length === 0 && count === 0) console.log("There are no checkpoints for this issue.");
  else
    console.log(
      `${count} checkpoints, ${problems.length === 0 ? "all in order" : `${problems.length} problems`}`,
    );
  return problems.length === 0 ? 0 : 1;
}
