import { expect, it } from "vitest";
import { childEnvironment } from "../../../src/adapters/process/child-environment.js";

const forbidden = [
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "INPUT_GITHUB-TOKEN",
  "ACTIONS_RUNTIME_TOKEN",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
  "PRIVATE_KEY",
  "WEBHOOK_SECRET",
  "GITHUB_OUTPUT",
  "GITHUB_ENV",
  "GITHUB_PATH",
  "GITHUB_STEP_SUMMARY",
  "GITHUB_STATE",
];

it("a child gets what programs need, and what was named for it", () => {
  const parent = {
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    XDG_CACHE_HOME: "/c",
    https_proxy: "p",
    MODEL_KEY: "k",
    OTHER: "o",
  };
  expect(
    childEnvironment(parent, { env: { A: "1", HOME: "/x" }, passEnv: ["MODEL_KEY", "MISSING"] }),
  ).toEqual({
    PATH: "/bin",
    HOME: "/x",
    LC_ALL: "C",
    XDG_CACHE_HOME: "/c",
    https_proxy: "p",
    MODEL_KEY: "k",
    A: "1",
  });
});

it("a child never gets Crunch's own credentials or the runner's command files, even if they are named", () => {
  const parent = Object.fromEntries(forbidden.map((name) => [name, "secret"]));
  expect(childEnvironment(parent, { passEnv: forbidden })).toEqual({});
  expect(childEnvironment({}, { env: parent })).toEqual({});
  expect(childEnvironment({ github_token: "x" }, { passEnv: ["github_token"] })).toEqual({});
});
