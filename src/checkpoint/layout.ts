import { CrunchError } from "../errors.js";
import { CheckpointId } from "./id.js";

/** Where a chain's files are. All paths but `folder` are relative to the issue's folder. */
export interface Layout {
  readonly location: string;
  /** The issue's own folder, in the agent's workspace and on the checkpoint branch: what holds the chain's. */
  folder(issue: number): string;
  /** The folder in which every issue has its own, "" for the root; and the issue such an entry is of, or null. */
  readonly parent: string;
  issueNamed(entry: string): number | null;
  /** The folder of the chain. */
  readonly chain: string;
  readonly index: string;
  readonly latest: string;
  page(number: number): string;
  checkpoint(id: string, compressed?: boolean): string;
}

export const defaultLocation = ".claude/crunch/{issue}/checkpoints";

/** `location` is `storage.location` of the configuration: the chain's folder, with `{issue}` in its parent folder. */
export function createLayout(location: string): Layout {
  const segments = location.split("/");
  const chain = segments.pop() ?? "";
  const at = segments.findIndex((segment) => segment.includes("{issue}"));
  refuseLocation(location, at, chain);
  const [before = "", after = ""] = (segments[at] ?? "").split("{issue}");
  return {
    location,
    folder: (issue) => segments.join("/").replace("{issue}", String(issue)),
    parent: segments.slice(0, at).join("/"),
    issueNamed(entry) {
      if (!entry.startsWith(before) || !entry.endsWith(after)) return null;
      const number = entry.slice(before.length, entry.length - after.length);
      return /^[1-9]\d{0,14}$/.test(number) ? Number(number) : null;
    },
    chain,
    index: `${chain}/index.yaml`,
    latest: `${chain}/latest`,
    page: (number) => `${chain}/index-${String(number).padStart(4, "0")}.yaml`,
    checkpoint: (id, compressed) => `${chain}/${fileName(id, compressed)}`,
  };
}

export const defaultLayout: Layout = createLayout(defaultLocation);

/** The file of a checkpoint. An id is checked before it becomes a name. */
export function fileName(id: string, compressed = false): string {
  if (!CheckpointId.safeParse(id).success) {
    throw new CrunchError({
      code: "checkpoint_id_invalid",
      message: `${JSON.stringify(id.slice(0, 60))} is not a checkpoint id.`,
      hint: "Ids look like CP-enrich-20250114-a3f2; the sticky comment and index.yaml list them.",
    });
  }
  return compressed ? `${id}.yaml.gz` : `${id}.yaml`;
}

/** The issue's folder where the configuration names no other. */
export function issueFolder(issue: number): string {
  return defaultLayout.folder(issue);
}

function refuseLocation(location: string, at: number, chain: string): void {
  const isInside = location
    .split("/")
    .every((segment) => /^[\w.{}@+-]+$/.test(segment) && !/^(?:\.{1,2}|\.git)$/i.test(segment));
  const isOnce = location.split("{issue}").length === 2 && !location.replace("{issue}", "").match(/[{}]/);
  const isReserved = ["artifacts", "notes"].includes(chain.toLowerCase());
  if (isInside && isOnce && at !== -1 && !isReserved) return;
  throw new CrunchError({
    code: "storage_location_invalid",
    message: `${JSON.stringify(location.slice(0, 200))} can't be where checkpoints are stored.`,
    hint: `Name a folder inside the repo whose parent folder has {issue} once, like ${defaultLocation}.`,
  });
}
