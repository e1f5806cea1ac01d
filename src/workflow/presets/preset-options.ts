import { CrunchError } from "../../errors.js";
import type { ProjectType } from "./project-types.js";

/** What a repo may say about the preset it uses. */
export interface PresetOptions {
  readonly approval: "none" | "required";
  readonly projectType: ProjectType | null;
  /** Phases that run only on request. */
  readonly include: readonly string[];
}

/** Refuses what only other presets can do: a wish that is not heard would look as if it was. */
export function refuseVariants(preset: string, { projectType, include }: PresetOptions): void {
  const wishes = [
    ...(projectType === null ? [] : ["no types of projects"]),
    ...(include.length === 0 ? [] : ["no phases on request"]),
  ];
  if (wishes.length > 0)
    throw presetError(
      `The workflow ${JSON.stringify(preset)} has ${wishes.join(" and ")}.`,
      "Leave out the project type and `include`, or use the workflow `orchestrator`.",
    );
}

export function presetError(message: string, hint: string): CrunchError {
  return new CrunchError({ code: "workflow_invalid", message, hint });
}
