import { verifyChain } from "../app/verify-chain.js";
import type { NamedChain } from "./chain-of.js";

/** Prints an issue's chain and what is wrong with it; the exit code is 1 if anything is. */
export async function verify({ store, issue }: NamedChain): Promise<number> {
  const { chain, problems } = await verifyChain(store, issue);
  for (const { created_at, checkpoint_id, trigger, phase, removed_at } of chain.index) {
    const removed = removed_at === undefined ? "" : ` (removed by retention at ${removed_at})`;
    console.log(`${created_at}  ${checkpoint_id}  ${phase}: ${trigger}${removed}`);
  }
  for (const problem of problems) console.log(`wrong: ${problem}`);
  const count = chain.checkpoints.size;
  if (problems.length === 0 && count === 0) {
    console.log("There are no checkpoints for this issue.");
    return 1;
  }
  console.log(
    `${count} checkpoints, ${problems.length === 0 ? "all in order" : `${problems.length} problems`}`,
  );
  return problems.length === 0 ? 0 : 1;
}
