import type { Workflow } from "../workflow.js";
import { crunchWorkflow } from "./crunch.js";

/** The workflows a repo can name in its configuration; one line each. */
export const presets = {
  crunch: crunchWorkflow,
} satisfies Record<string, (options: { readonly approval: "none" | "required" }) => Workflow>;
