import { z } from "zod";
import type { ConsensusShape, TaskShape, VoterShape } from "../workflow/shape.js";
import { AgentName } from "./agent-config.js";
import { Template } from "./expression-field.js";
import { LongDuration } from "./fields.js";
import { given } from "./kinds.js";
import { Reference } from "./next-field.js";
import { describe } from "./plain-english.js";

export const Does = z.string().max(500);

const Task = z
  .strictObject({
    does: Does.default(""),
    agent: AgentName.optional(),
    role: AgentName.optional(),
    depends_on: z.array(Reference).optional(),
  })
  .transform(
    ({ does, agent, role, depends_on: dependsOn }): TaskShape => ({
      does,
      ...given({ agent, role, dependsOn }),
    }),
  );

export const Tasks = z.record(AgentName, Task);

const Voter = z
  .strictObject({ does: Does.default(""), agent: AgentName.optional() })
  .transform(({ does, agent }): VoterShape => ({ does, ...given({ agent }) }));

/** With what each looks at, or only their names. */
export const Voters = z
  .union([z.array(AgentName), z.record(AgentName, Voter)], {
    error: ({ input }) => `expected a list of names, or a map of voters, found ${describe(input)}.`,
  })
  .transform(
    (voters): Readonly<Record<string, VoterShape>> =>
      Array.isArray(voters) ? Object.fromEntries(voters.map((name) => [name, { does: "" }])) : voters,
  );

export const Veto = z.union([z.literal("anybody"), z.array(Reference).min(1)], {
  error: ({ input }) => `expected "anybody" or a list of voters, found ${describe(input)}.`,
});

const Needed = z.number().int().min(1).max(100);
const defaultPrompt = "Do you approve?";

/** How many people have to approve. */
export const People = z
  .union(
    [
      Needed,
      z.strictObject({
        needed: Needed,
        prompt: Template.optional(),
        timeout: LongDuration.optional(),
      }),
    ],
    { error: ({ input }) => `expected how many people, or a map with \`needed\`, found ${describe(input)}.` },
  )
  .transform((people): NonNullable<ConsensusShape["people"]> => {
    if (typeof people === "number") return { needed: people, prompt: defaultPrompt };
    const { needed, prompt = defaultPrompt, timeout: timeoutMs } = people;
    return { needed, prompt, ...given({ timeoutMs }) };
  });
