import type { Answer } from "./answer.js";
import { succeeded } from "./answer.js";
import { objectOf, textOf } from "./json.js";
import type { Upstream } from "./upstream.js";

type FileMode = "100644" | "100755" | "120000";
export type SeedFiles = Readonly<
  Record<string, string | { readonly content: string | Buffer; readonly mode: FileMode }>
>;

/** The first commit on `main`. */
export async function seedFiles(upstream: Upstream, base: string, files: SeedFiles): Promise<void> {
  const entries = Object.entries(files).map(([path, file]) =>
    typeof file === "string" ? { path, content: file, mode: "100644" } : { path, ...file },
  );
  const tree = await Promise.all(
    entries.map(async ({ path, content, mode }) => {
      if (typeof content === "string") return { path, mode, type: "blob", content };
      const body = { content: content.toString("base64"), encoding: "base64" };
      return { path, mode, type: "blob", sha: shaOf(await upstream.call("POST", `${base}/git/blobs`, body)) };
    }),
  );
  const made = await upstream.call("POST", `${base}/git/trees`, { tree });
  const first = { message: "First commit", tree: shaOf(made), parents: [] };
  const sha = shaOf(await upstream.call("POST", `${base}/git/commits`, first));
  await upstream.call("POST", `${base}/git/refs`, { ref: "refs/heads/main", sha });
}

function shaOf(made: Answer): string {
  if (!succeeded(made)) throw new Error(`The first commit failed: ${textOf(objectOf(made.body).message)}`);
  return textOf(objectOf(made.body).sha);
}
