import { describe, expect, it } from "vitest";
import { isAllowedCommand, parseOperatorConfig } from "../../src/config/operator.js";

const text = `agents:
  builder: { command: [node, agent.mjs], pass_env: [ANTHROPIC_API_KEY] }
commands:
  - [npm, test]
  - [npm, run, lint]
`;

function operatorOf(source: string) {
  const result = parseOperatorConfig(source, "operator.yml");
  if (result.status === "invalid") throw new Error(JSON.stringify(result.problems));
  return result.config;
}

describe("the bot operator's file", () => {
  it("names the agents and commands that may run on the bot's host", () => {
    expect(operatorOf(text)).toEqual({
      agents: {
        builder: {
          command: ["node", "agent.mjs"],
          timeoutMs: 1_800_000,
          env: {},
          passEnv: ["ANTHROPIC_API_KEY"],
        },
      },
      commands: [
        ["npm", "test"],
        ["npm", "run", "lint"],
      ],
    });
  });

  it("allows nothing when it is empty", () => {
    expect(operatorOf("")).toEqual({ agents: {}, commands: [] });
    expect(isAllowedCommand(operatorOf(""), ["npm", "test"])).toBe(false);
    expect(isAllowedCommand(operatorOf(""), [])).toBe(false);
  });

  it("allows a command only when every word is equal", () => {
    const operator = operatorOf(text);
    expect(isAllowedCommand(operator, ["npm", "test"])).toBe(true);
    expect(isAllowedCommand(operator, ["npm", "test", "--", "x"])).toBe(false);
    expect(isAllowedCommand(operator, ["npm"])).toBe(false);
    expect(isAllowedCommand(operator, ["npm test"])).toBe(false);
    expect(isAllowedCommand(operator, ["npm", "TEST"])).toBe(false);
  });

  it("is refused with its own name, line and a suggestion", () => {
    expect(parseOperatorConfig("agents: {}\ncomands: []\n", "operator.yml")).toEqual({
      status: "invalid",
      problems: [
        {
          file: "operator.yml",
          line: 2,
          column: 1,
          path: "comands",
          message: 'the key "comands" is not known here. Did you mean "commands"?',
        },
      ],
    });
    expect(parseOperatorConfig("commands: [npm test]\n", "operator.yml")).toMatchObject({
      problems: [{ path: "commands[0]", message: expect.stringContaining("[npm, test]") }],
    });
  });
});
