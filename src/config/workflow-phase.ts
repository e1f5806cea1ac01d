import { z } from "zod";
import type { PhaseShape } from "../workflow/shape.js";
import { AgentName } from "./agent-config.js";
import { Expression, Updates } from "./expression-field.js";
import { Duration, Glob } from "./fields.js";
import { given, refuseKeys } from "./kinds.js";
import { type Lead, Next, Reference } from "./next-field.js";
import { Does, People, Tasks, Veto, Voters } from "./people-fields.js";
import { Ask, Hooks, OnError, TimeLimits } from "./phase-fields.js";
import { problemsOfPhase } from "./phase-problems.js";

const phaseTypes = ["agent", "tasks", "human", "consensus", "terminal"] as const;

const worked = ["agent", "tasks"];
const voted = ["consensus"];
const begun = [...worked, "human", ...voted];

/** The types of phase that a key is for; one that is not named here is for all. */
const typesOfKey: Readonly<Record<string, readonly string[]>> = {
  ...all(begun, ["next", "optional", "guard", "before", "finally", "on_error", "time_limits"]),
  ...all([...worked, "human"], ["after"]),
  ...all([...worked, ...voted], ["agent", "timeout"]),
  ...all(worked, ["role", "writes", "gates", "update", "parallel"]),
  ...all(["agent"], ["for_each", "until"]),
  ...all(["tasks"], ["tasks"]),
  ...all([...worked, "human"], ["ask"]),
  ...all(voted, ["voters", "quorum", "veto", "people", "otherwise"]),
};

function all(types: readonly string[], keys: readonly string[]) {
  return Object.fromEntries(keys.map((key) => [key, types]));
}

/** What a type of phase can't do without. */
const neededKeys: Readonly<Record<(typeof phaseTypes)[number], readonly string[]>> = {
  agent: ["next"],
  tasks: ["tasks", "next"],
  human: ["ask", "next"],
  consensus: ["next"],
  terminal: [],
};

const Until = z.strictObject({
  done: Expression,
  most: z
    .number({
      error: ({ input }) =>
        input === undefined
          ? "`until` needs `most`, how often it may run before it counts as failed: { done: …, most: 10 }."
          : undefined,
    })
    .int()
    .min(1)
    .max(10_000),
});

/** What a phase says besides its gates, whose form is not a workflow's affair. */
const keys = {
  type: z.enum(phaseTypes).default("agent"),
  does: Does.default(""),
  agent: AgentName.optional(),
  role: AgentName.optional(),
  timeout: Duration.optional(),
  writes: z.array(Glob).optional(),
  optional: z.boolean().optional(),
  guard: Expression.optional(),
  before: Hooks.optional(),
  after: Hooks.optional(),
  finally: Hooks.optional(),
  on_error: OnError.optional(),
  time_limits: TimeLimits.optional(),
  for_each: Expression.optional(),
  until: Until.optional(),
  tasks: Tasks.optional(),
  parallel: z.number().int().min(1).max(1_000).optional(),
  update: Updates.optional(),
  ask: Ask.optional(),
  voters: Voters.optional(),
  quorum: z.number().int().min(1).optional(),
  veto: Veto.optional(),
  people: People.optional(),
  otherwise: Reference.optional(),
  next: Next.optional(),
};
const WithoutGates = z.strictObject(keys);
type PhaseKeys = z.infer<typeof WithoutGates>;

/** A phase in YAML: its shape, what the repo sets for it where agents work, and where it leads. */
export function workflowPhase<Gate extends z.ZodType>(gate: Gate) {
  return z
    .strictObject({ ...keys, gates: z.array(gate).optional() })
    .transform(({ gates, ...phase }, context) => {
      const { type } = phase;
      refuseKeys(context, { ...phase, gates }, { of: "type", is: type, only: typesOfKey });
      for (const key of neededKeys[type]) {
        if (phase[key as keyof PhaseKeys] !== undefined) continue;
        const message = `a phase of the type ${type} needs \`${key}\`.`;
        context.addIssue({ code: "custom", message });
      }
      for (const problem of problemsOfPhase(phase)) context.addIssue({ code: "custom", ...problem });
      const { agent = null, timeout: timeoutMs = null, writes = ["**"] } = phase;
      const works = typesOfKey.agent?.includes(type);
      return {
        shape: shapeOf(phase),
        config: works ? { agent, timeoutMs, writes, gates: gates ?? [] } : null,
        leads: leadsOf(phase),
      };
    })
    .meta({ allOf: phaseTypes.map(rulesOf) });
}

/** The same for editors, as JSON Schema. A phase without a type is an agent's. */
function rulesOf(type: (typeof phaseTypes)[number]) {
  const refused = Object.keys(typesOfKey).filter((key) => !typesOfKey[key]?.includes(type));
  return {
    if: { properties: { type: { const: type } }, ...(type !== "agent" && { required: ["type"] }) },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: {
      required: neededKeys[type],
      properties: Object.fromEntries(refused.map((key) => [key, false])),
    },
  };
}

function leadsOf({ next, otherwise }: PhaseKeys): readonly Lead[] {
  const leads = (next?.leads ?? []).map(({ to, path }) => ({ to, path: ["next", ...path] }));
  return otherwise === undefined ? leads : [...leads, { to: otherwise, path: ["otherwise"] }];
}

/** What is needed and missing has been told by now, and keeps the shape from being used. */
function shapeOf(phase: PhaseKeys): PhaseShape {
  const { type, does, optional, guard, before, after, agent, role, parallel, update, ask } = phase;
  if (type === "terminal") return { type, does };
  const common = {
    does,
    next: phase.next?.shape ?? [],
    ...given({ optional, guard, before, after, finally: phase.finally }),
    ...given({ onError: phase.on_error, timeLimits: phase.time_limits }),
  };
  const work = { ...common, ...given({ agent, role, parallel, update, ask }) };
  switch (type) {
    case "agent":
      return { type, ...work, ...given({ forEach: phase.for_each, until: phase.until }) };
    case "tasks":
      return { type, ...work, tasks: phase.tasks ?? {} };
    case "human":
      return { type, ...common, ask: ask ?? { type: "approval", prompt: "" } };
    case "consensus": {
      const { voters = {}, quorum, veto, people, otherwise } = phase;
      return { type, ...common, voters, ...given({ quorum, veto, people, otherwise }) };
    }
  }
}
