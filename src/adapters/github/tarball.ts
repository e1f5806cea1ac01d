import { Buffer } from "node:buffer";
import { named, type Repository } from "./repository.js";

/** The repo's files at a commit, gzipped. */
export async function fetchTarball(repository: Repository, sha: string): Promise<Buffer> {
  const { data } = await repository.octokit.repos.downloadTarballArchive({ ...named(repository), ref: sha });
  return Buffer.from(data as ArrayBuffer);
}
