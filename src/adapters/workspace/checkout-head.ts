import { runTool } from "../process/run-tool.js";
import { toolEnvironment } from "./tool-environment.js";

export type CheckoutHead =
  | { readonly status: "at"; readonly sha: string }
  | { readonly status: "no checkout" }
  /** Its git configuration holds a credential, which whoever works there can read. */
  | { readonly status: "holds a credential" };

/** The commit a folder is checked out at. A folder within a checkout is none: its paths are not the repository's. */
export async function checkoutHead(directory: string): Promise<CheckoutHead> {
  const run = async (args: readonly string[]) => {
    // In a job's container the checkout often belongs to another user, which git would refuse.
    const words = ["git", "-c", "safe.directory=*", "-C", directory, ...args] as const;
    return (await runTool(words, { directory, env: toolEnvironment(directory) })).toString("utf8");
  };
  try {
    const [prefix, sha = ""] = (await run(["rev-parse", "--show-prefix", "HEAD"])).split("\n");
    if (prefix !== "") return { status: "no checkout" };
    const settings = await run(["config", "--includes", "--null", "--list"]);
    return settings.split("\0").some(isCredential) ? { status: "holds a credential" } : { status: "at", sha };
  } catch {
    return { status: "no checkout" };
  }
}

/** What actions/checkout leaves behind unless it is told not to, or a token within an address. */
function isCredential(setting: string): boolean {
  return (
    /^http\.(?:.*\.)?extraheader\n/i.test(setting) ||
    /^remote\..*url\nhttps?:\/\/[^/@]+:[^/@]+@/i.test(setting)
  );
}
