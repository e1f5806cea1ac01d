import { createGitHubStore } from "../lib/adapters/github/checkpoint-store.js";
import { createClient } from "../lib/adapters/github/client.js";
import { artifactPaths } from "../lib/checkpoint/invariants.js";
import { defaultLayout as layout } from "../lib/checkpoint/layout.js";
import { startEmbeddedGitHub } from "../lib/embedded-github/index.js";
import { issue, nextOf, nextWithNote, putNext } from "./chains.mjs";

const names = { owner: "octo", repo: "demo" };
const branch = "crunch/issue-{issue}";

/** How many requests each operation sends, with a history of which GitHub has only what they look at. */
export async function countRequests(history, maker, resumed) {
  const gh = await startEmbeddedGitHub({ ...names, files: { "README.md": "# Demo\n" } });
  try {
    const octokit = createClient({ baseUrl: gh.url, token: gh.actionsToken });
    await upload(octokit, history);
    const open = () => createGitHubStore({ ...names, octokit, defaultBranch: "main" }, branch);
    const requestsOf = async (work) => {
      gh.requests.reset();
      await work();
      return gh.requests.count();
    };
    let end = history.end;
    const save = (store, { checkpoint, files } = { checkpoint: nextOf(end, maker) }) =>
      requestsOf(async () => {
        const { status } = await putNext(store, checkpoint, files);
        if (status !== "stored") throw new Error(`the put ended as ${status}`);
        end = checkpoint;
      });
    const store = open();
    return {
      "resume: a new store reads the latest and its files": await requestsOf(() => resumed(open())),
      "save, first of a new store": await save(store),
      save: await save(store),
      "save with a new note": await save(store, nextWithNote(end, maker)),
    };
  } finally {
    await gh.close();
  }
}

/** The index with its pages, the latest checkpoint and what it names, in one commit: ten thousand would take hours. */
async function upload(octokit, { end, files }) {
  const isOfIndex = (path) => path.startsWith(`${layout.chain}/index`);
  const needed = [layout.latest, layout.checkpoint(end.checkpoint_id), ...artifactPaths(end)];
  const tree = [...files]
    .filter(([path]) => isOfIndex(path) || needed.includes(path))
    .map(([path, content]) => ({
      path: `${layout.folder(issue)}/${path}`,
      mode: path === layout.latest ? "120000" : "100644",
      type: "blob",
      content: content.toString("utf8"),
    }));
  const { data: made } = await octokit.git.createTree({ ...names, tree });
  const { data: commit } = await octokit.git.createCommit({
    ...names,
    tree: made.sha,
    message: "History",
    parents: [],
  });
  await octokit.git.createRef({
    ...names,
    ref: `refs/heads/${branch.replace("{issue}", issue)}`,
    sha: commit.sha,
  });
}
