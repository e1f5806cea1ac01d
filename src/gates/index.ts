import type { GateConfig } from "../config/schema.js";
import type { NotesGateShape } from "../workflow/shape.js";
import { commandGate } from "./command.js";
import type { Gate } from "./gate.js";
import { notesGate } from "./notes.js";
import { outputGate } from "./output.js";

/** The gates that a configuration or a workflow can name; one line each. */
export function createGate(config: GateConfig | NotesGateShape, phase: string): Gate {
  switch (config.type) {
    case "command":
      return commandGate({ ...config, phase });
    case "output":
      return outputGate({ ...config, phase });
    case "notes":
      return notesGate({ ...config, phase });
  }
}
