import { CrunchError } from "../errors.js";
import { printable } from "./refusal.js";
import { from1_0 } from "./versions/from-1-0.js";

interface Upgrade {
  readonly from: string;
  readonly to: string;
  readonly step: (value: unknown) => unknown;
}

/** One step a version, oldest first: a new version adds a line here, and the older steps stay as they are. */
const upgrades: readonly Upgrade[] = [{ from: "1.0", to: "1.1", step: (value) => from1_0(value) }];
const currentVersion = "1.1";

/** What was read from a checkpoint's file, as the current version would have written it. The schema comes after. */
export function upgradeCheckpoint(value: unknown): unknown {
  const version = versionOf(value);
  // Without any version it is no checkpoint at all, and the schema says what else is missing.
  if (version === undefined || version === currentVersion) return value;
  const first = upgrades.findIndex(({ from }) => from === version);
  if (first === -1) throw unknownVersion(version);
  return upgrades.slice(first).reduce((upgraded, { step }) => step(upgraded), value);
}

function versionOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
}

function unknownVersion(version: unknown): CrunchError {
  const read = [...upgrades.map(({ from }) => from), currentVersion].map((one) => `"${one}"`);
  const found = printable(JSON.stringify(version), 60);
  return new CrunchError({
    code: "checkpoint_version",
    message: `The checkpoint has version ${found}, and this Crunch reads ${read.join(" and ")}.`,
    hint: "Update Crunch to the version that wrote this checkpoint, or to a later one.",
  });
}
