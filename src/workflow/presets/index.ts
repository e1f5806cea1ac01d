import type { WorkflowShape } from "../shape.js";
import { crunch } from "./crunch.js";
import { devLoop } from "./dev-loop.js";
import { orchestrator } from "./orchestrator.js";
import type { PresetOptions } from "./preset-options.js";

export type { PresetOptions } from "./preset-options.js";
export type { ProjectType } from "./project-types.js";

/** The workflows that a repo can name in its configuration; one line each. */
export const presets = {
  crunch,
  orchestrator,
  "dev-loop": devLoop,
} satisfies Record<string, (options: PresetOptions) => WorkflowShape>;
