import type { ConfigProblem } from "../config/problems.js";
import { fenced } from "../markdown.js";

const mostShown = 20;

/** What is wrong in a configuration file, one line each: file, line, column, where, what was expected. */
export function renderConfigProblems(problems: readonly ConfigProblem[]): string {
  const lines = problems
    .slice(0, mostShown)
    .map(
      ({ file, line, column, path, message }) =>
        `${file}:${line}:${column}: ${path === "" ? "" : `${path}: `}${message}`,
    );
  const more = problems.length > mostShown ? [`… and ${problems.length - mostShown} more`] : [];
  return `the configuration is not valid:\n\n${fenced([...lines, ...more].join("\n"))}\n`;
}
