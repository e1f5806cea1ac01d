import { describe, expect, it } from "vitest";
import { CrunchError } from "../../src/errors.js";
import {
  compileExpression,
  expressionProblem,
  fillTemplate,
  templateProblem,
} from "../../src/workflow/expression.js";

const variables = {
  state: {
    count: 5,
    score: 0.5,
    name: "ana",
    tags: ["a", "b"],
    none: null,
    deep: { constructor: "x", list: [{ id: 1 }] },
    empty: [],
  },
  output: { verdict: "pass", notes: ["n"] },
  issue: { number: 7, title: "Login", labels: ["bug"] },
  phases: { plan: "succeeded" },
};
const computed = (text: string, more = {}) => compileExpression(text)({ ...variables, ...more });

function errorOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof CrunchError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("an expression", () => {
  it("of a variable that has no value where it stands says so", () => {
    const { message } = errorOf(() => compileExpression("output == 1")({ state: {} }));
    expect(message).toBe("The expression `output == 1` can't be computed: `output` has no value here.");
  });

  it.each([
    ["state.count > 3", true],
    ["state.count == 5", true],
    ["state.count == 5.0", true],
    ["state.count != 5", false],
    ["state.count in [4, 5]", true],
    ["state.count + 1", 6],
    ["state.count / 2", 2],
    ["state.count % 2", 1],
    ["state.count * state.score", 2.5],
    ["state.score * 2", 1],
    ["state.score + 1 >= 1.5", true],
    ["-state.count", -5],
    ["state.name == 'ana' && state.score < 1", true],
    ["state.none == null", true],
    ["state.deep.constructor", "x"],
    ["state.deep.list[0].id", 1],
    ["state.deep.list == [{'id': 1}]", true],
    ["size(state.tags)", 2],
    ["state.tags + [output.verdict]", ["a", "b", "pass"]],
    ["state.empty + [output]", [{ verdict: "pass", notes: ["n"] }]],
    ["{'n': state.count, 'list': state.tags}", { n: 5, list: ["a", "b"] }],
    ["state.tags.map(tag, tag + '!').join(', ')", "a!, b!"],
    ["state.tags.exists(tag, tag == 'b')", true],
    ["has(state.missing)", false],
    ["has(state.name) && has(state.deep.list)", true],
    ["state.?missing.orValue(3)", 3],
    ["'bug' in issue.labels", true],
    ["phases.plan == 'succeeded'", true],
    ["phases.exists(name, phases[name] == 'failed')", false],
    ["state.count > 3 ? 'many' : 'few'", "many"],
    ["issue.title.matches('^Log')", true],
    ["'#' + string(issue.number)", "#7"],
    ["1u", 1],
    ["timestamp('2025-01-14T10:00:00Z') + duration('1h')", "2025-01-14T11:00:00.000Z"],
    ["state.deep", { constructor: "x", list: [{ id: 1 }] }],
  ])("%s gives plain JSON", (text, value) => {
    expect(computed(text)).toEqual(value);
  });

  it("is compiled once, and computed for the variables of each call", () => {
    const compute = compileExpression("output * 2");
    expect([1, 2, 3].map((output) => compute({ output }))).toEqual([2, 4, 6]);
  });

  it("does not change what it is given", () => {
    const before = structuredClone(variables);
    computed("state.tags + ['c']");
    expect(variables).toEqual(before);
  });

  it.each([
    ["state.missing > 3", "there is no `state.missing`"],
    ["1 + state.deep.zzz", "there is no `state.deep.zzz`"],
    ["state.toString", "there is no `state.toString`"],
    ["state.__proto__", null],
    ["state.tags[9]", "no such key: index out of bounds, index 9 >= size 2"],
    ["state.name && true", "logical operator requires bool operands, got 'string'"],
    ["state.count + state.name", "nothing computes int + string"],
    ["state.count / 0", "division by zero"],
    ["1.0 / 0.0", "it gives Infinity, which is no number for JSON"],
    ["9007199254740993", "it gives 9007199254740993, a number too large to be exact"],
    ["b'abc'", "it gives a value that JSON can't say"],
    ["type(1)", "it gives a value that JSON can't say"],
  ])("%s fails with a reason for people", (text, reason) => {
    const { code, message } = errorOf(() => computed(text));
    if (reason === null) return expect(code).toMatch(/^expression_/);
    expect({ code, message }).toEqual({
      code: "expression_failed",
      message: `The expression \`${text}\` can't be computed: ${reason}.`,
    });
  });

  it("that would take for ever is ended", () => {
    const list = `[${Array(50).fill("0").join(",")}]`;
    const slow = [
      "state.name.matches('(a+)+$')",
      `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, ${list}.all(e, true)))))`,
    ];
    for (const text of slow) {
      const { code, message } = errorOf(() => computed(text, { state: { name: `${"a".repeat(60)}b` } }));
      expect(code).toBe("expression_failed");
      expect(message).toMatch(/: it takes longer than 500 ms\.$/);
    }
  });

  it.each([
    ["", "it is empty"],
    ["state.count >", "it ends too early"],
    ["state.count = 5", "unexpected character: = (character 13)"],
    ["state.name == 'ana", "unterminated string (character 15)"],
    ["stat.count", expect.stringMatching(/^there is no variable `stat`, only state, output, /)],
    ["hello", expect.stringMatching(/Text is written in quotes: 'hello'$/)],
    ["len(state.tags)", "nothing computes 'len(dyn)'"],
    ["1 + 'a'", "nothing computes int + string"],
    [`1${" + 1".repeat(600)}`, "it has 2401 characters, more than the limit of 2000"],
  ])("%j is refused before it runs", (text, problem) => {
    expect(expressionProblem(text)).toEqual(problem);
    expect(errorOf(() => compileExpression(text)).code).toBe("expression_invalid");
  });

  it("nested too deep, or too long a list, is refused", () => {
    expect(expressionProblem(`${"(".repeat(300)}1${")".repeat(300)}`)).not.toBeNull();
    expect(expressionProblem(`[${Array(300).fill("1").join(",")}]`)).not.toBeNull();
    expect(expressionProblem("state.count > 3")).toBeNull();
  });

  it("that is wrong names itself", () => {
    expect(errorOf(() => compileExpression("1 +\n  ")).message).toBe(
      "The expression `1 +` can't be read: it ends too early.",
    );
  });
});

describe("a template", () => {
  it("takes text as it is and other values as JSON", () => {
    expect(fillTemplate("{{ state.name }} has {{state.tags}}, {{ state.count }}: $& {x}", variables)).toBe(
      'ana has ["a","b"], 5: $& {x}',
    );
  });

  it("is not filled twice", () => {
    expect(fillTemplate("{{ output }}", { output: "{{ state.name }} $1" })).toBe("{{ state.name }} $1");
  });

  it.each([
    ["no holes", null],
    ["{{ state.name }}", null],
    ["{{ state.name", "a `{{` without its `}}`"],
    ["{{ state. }}", "in `{{ state. }}`: it ends too early"],
    ["{{}}", "in `{{}}`: it is empty"],
  ])("%j is checked before it is used", (text, problem) => {
    expect(templateProblem(text)).toBe(problem);
  });
});
