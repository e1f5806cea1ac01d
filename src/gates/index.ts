import type { GateConfig } from "../config/schema.js";
import { commandGate } from "./command.js";
import type { Gate } from "./gate.js";
import { outputGate } from "./output.js";

/** The gates a configuration can name; one line each. */
export function createGate(config: GateConfig, phase: string): Gate {
  switch (config.type) {
    case "command":
      return commandGate({ ...config, phase });
    case "output":
      return outputGate({ ...config, phase });
  }
}
