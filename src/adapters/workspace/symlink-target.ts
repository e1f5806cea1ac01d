import { CrunchError } from "../../errors.js";

/** Refuses a link that leads out of the workspace, where others who check it out would follow it. */
export function refuseOutsideTarget(path: string, target: string): void {
  if (staysInside(path, target)) return;
  throw new CrunchError({
    code: "symlink_outside",
    message: `The symbolic link ${JSON.stringify(path)} points outside the repository, to ${JSON.stringify(target)}.`,
    hint: "Have the agent replace it with a file, or with a relative link to a file of the repository.",
  });
}

function staysInside(path: string, target: string): boolean {
  if (target.startsWith("/") || /^[A-Za-z]:/.test(target) || target.includes("\\")) return false;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const firstName = steps.findIndex((step) => step !== "..");
  const ups = firstName === -1 ? steps.length : firstName;
  // A `..` after a name may start from wherever another link leads: the words alone do not tell.
  return ups <= path.split("/").length - 1 && !steps.slice(ups).includes("..");
}
