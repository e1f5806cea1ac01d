#!/usr/bin/env node
// The sample agent. It is a script and not a model: it follows docs/agent-contract.md as any agent does, really
// searches, edits and tests, but it knows the fix of one bug only, the one in sample/repo.
import { execFile } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

const KNOWN_BUG = `  const match = /^(\\d+)(ms|s|m|h|d)/.exec(text);
  if (match === null) throw new TypeError(\`not a duration: \${JSON.stringify(text)}\`);
  return Number(match[1]) * MILLISECONDS[match[2]];
`;
const KNOWN_FIX = `  if (!/^(\\d+(ms|s|m|h|d))+$/.test(text)) throw new TypeError(\`not a duration: \${JSON.stringify(text)}\`);
  const parts = [...text.matchAll(/(\\d+)(ms|s|m|h|d)/g)];
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * MILLISECONDS[unit], 0);
`;

const BY = "Written by the sample agent, a script and not a model.";
const SECTIONS = ["Patterns Discovered", "Gotchas Encountered", "Key Decisions", "Observations", "Status"];
/** The phases of the three presets. A team's smaller phases are done by writing down what there is to say. */
const PHASES = {
  ...{ enrich, implementing, validation, docs },
  ...{
    intake: say,
    planning: enrich,
    data: say,
    arch: say,
    security: say,
    develop: implementing,
    qa: validation,
  },
  ...{ review: say, hygiene: say },
  ...{ implementation, "code-review": say, reflection: say },
};
/** What specialists call the step that they have completed. */
const STEPS = { implementation: "implementation", "code-review": "review", reflection: "reflection" };

/** A failure that a person can read; anything else thrown here is a defect of this script. */
class SampleAgentError extends Error {}

const pace = Number(process.env.CRUNCH_SAMPLE_PACE_MS ?? 0) || 0;
const output = variable("CRUNCH_OUTPUT");
const context = JSON.parse(await readFile(variable("CRUNCH_CONTEXT"), "utf8"));
const workspace = resolve(context.workspace);
const notes = await openNotes(variable("CRUNCH_NOTES"), context.phase);

try {
  if (context.protocol !== 1) throw new SampleAgentError(`I know protocol 1, this is ${context.protocol}.`);
  const own = Object.hasOwn(PHASES, context.phase) ? PHASES[context.phase] : null;
  const work = context.task.kind === "vote" ? vote : own;
  const phases = Object.keys(PHASES).join(", ");
  if (!work) throw new SampleAgentError(`I know the phases ${phases}, and not ${context.phase}.`);
  await mkdir(output, { recursive: true });
  await notes.status(`began attempt ${context.attempt}`);
  if (context.previous.error)
    await notes.add("Gotchas Encountered", `Attempt before: ${context.previous.error}`);
  const result = await work();
  await notes.status(`done. ${result.summary}`);
  if (Object.hasOwn(STEPS, context.phase)) await notes.completed(STEPS[context.phase]);
  await writeResult(result);
  await step("Done", 100);
} catch (error) {
  if (!(error instanceof SampleAgentError)) throw error;
  await notes.status(`failed. ${error.message}`);
  await writeResult({ summary: `Failed: ${error.message}` });
  console.error(error.message);
  process.exitCode = 1;
}

async function enrich() {
  await step("Reading the issue", 10);
  const { title, body } = context.issue;
  const names = [...new Set([...body.matchAll(/\b([A-Za-z_]\w{2,})\(/g)].map((match) => match[1]))];
  await notes.add("Patterns Discovered", `The issue calls: ${names.join(", ") || "nothing by name"}`);

  await step("Searching the code for what the issue names", 40);
  const { defining, mentioning } = await search(names);
  await notes.add("Patterns Discovered", `Defined in: ${defining.join(", ") || "no file"}`);
  if (defining.length === 0)
    throw new SampleAgentError("No file defines what the issue names, so I cannot plan.");

  await step("Writing the specification", 70);
  const spec = [
    `# ${oneLine(title)}`,
    `${BY} The quoted parts are the issue's own words.`,
    "## Problem",
    quote(section(body, /happens$|problem/i) ?? body),
    "## Expected behaviour",
    quote(section(body, /should happen|expected/i) ?? "The issue does not say."),
    "## Acceptance criteria",
    list(criteriaOf(section(body, /acceptance criteria/i) ?? "")),
    "## Files to change",
    list(defining.map((path) => `\`${path}\``)),
    "## Files that mention it",
    list(mentioning.map((path) => `\`${path}\``)),
  ];
  await writeFile(join(output, "spec.md"), `${spec.join("\n\n")}\n`);
  await notes.add("Key Decisions", "Only files that define what the issue names are planned to change");
  return {
    summary: `Wrote the specification. Files to change: ${defining.join(", ")}.`,
    outputs: [outputFile("spec", "spec.md", "The specification")],
    acceptance_criteria: { "The specification names the files to change": true },
  };
}

/** Where one agent does all: it plans first. */
async function implementation() {
  await enrich();
  await notes.add("Gotchas Encountered", "Only the first part of a text was read, and the rest was ignored");
  return implementing();
}

/** Says what there is to say about the work so far, which is little for a script. */
async function say() {
  const { name, does, role } = context.task;
  const what = name === "work" ? context.phase : `${context.phase}, ${name}`;
  await step(`Looking at the work (${what})`, 30);
  const files = (await filesOf(workspace)).filter((path) => path.endsWith("js"));
  await step("Writing it down", 70);
  const file = `${context.phase}${name === "work" ? "" : `-${name}`}.md`;
  const page = [`# ${what}`, BY, `As ${role}, which ${does}, it read these files:`, list(files)];
  await writeFile(join(output, file), `${page.join("\n\n")}\n`);
  await notes.add("Observations", `Read ${files.length} files and found nothing to object to`);
  return {
    summary: `Read ${files.length} files.`,
    outputs: [outputFile(context.phase, file, `What ${role} said`)],
  };
}

async function vote() {
  await step(`Voting as ${context.task.role}`, 50);
  return { summary: "It is as it was said to be.", vote: "approve" };
}

async function implementing() {
  await step("Reading the specification", 10);
  const spec = await readSpec();
  await step("Running the tests to see the bug", 30);
  const before = await runTests();
  if (before.passed) {
    await notes.add("Key Decisions", "Changed nothing: the tests pass, so the bug is fixed already");
    return { summary: "The bug is fixed already: the tests pass.", acceptance_criteria: met(spec) };
  }
  await notes.add("Patterns Discovered", `Tests before the fix: ${before.counts}`);

  await step("Fixing the bug", 60);
  const path = await fixKnownBug(spec.files);
  await notes.add(
    "Key Decisions",
    `Changed ${path}: the whole text has to be a duration, and all its parts count`,
  );

  await step("Running the tests again", 80);
  const after = await runTests();
  await notes.add("Patterns Discovered", `Tests after the fix: ${after.counts}`);
  if (!after.passed) throw new SampleAgentError(`The tests still fail after the fix: ${after.counts}.`);
  return {
    summary: `Fixed the bug in ${path}. Tests before: ${before.counts}; after: ${after.counts}.`,
    acceptance_criteria: met(spec),
  };
}

async function validation() {
  await step("Reading the specification", 10);
  const spec = await readSpec();
  await step("Running the tests", 40);
  const tests = await runTests();
  await step("Writing the report", 80);
  const mark = tests.passed ? "x" : " ";
  const report = [
    "# Validation",
    `${BY} It counts a criterion as met when all tests pass; it does not judge the code.`,
    `Result: ${tests.passed ? "passed" : "failed"} (${tests.counts}), by \`node --test\` on Node ${process.version}.`,
    "## Acceptance criteria",
    spec.criteria.map((criterion) => `- [${mark}] ${criterion}`).join("\n"),
    "## Output of the tests",
    fence(tests.output),
  ];
  await writeFile(join(output, "validation.md"), `${report.join("\n\n")}\n`);
  if (!tests.passed) throw new SampleAgentError(`The tests fail: ${tests.counts}.`);
  return {
    summary: `Ran the tests: ${tests.counts}.`,
    outputs: [outputFile("validation", "validation.md", "The tests' output")],
    acceptance_criteria: met(spec),
  };
}

async function docs() {
  await step("Reading the changelog", 20);
  const path = join(workspace, "CHANGELOG.md");
  const changelog = (await readIfThere(path)) ?? "# Changelog\n";
  const entry = `- Fixed: ${oneLine(context.issue.title)} (#${context.issue.number}).`;
  const isThere = changelog.includes(entry);
  await step("Adding an entry to the changelog", 50);
  if (!isThere) await writeFile(path, withEntry(changelog, entry));
  await notes.add(
    "Key Decisions",
    isThere ? "The changelog had the entry already" : "Added a changelog entry",
  );
  await step("Writing down what was documented", 80);
  const how = isThere ? "It was there already." : "Added under `## Unreleased`.";
  const page = ["# Documentation", BY, "The entry in `CHANGELOG.md`:", quote(entry), how];
  await writeFile(join(output, "docs.md"), `${page.join("\n\n")}\n`);
  return {
    summary: isThere ? "The changelog had its entry already." : "Added an entry to CHANGELOG.md.",
    outputs: [outputFile("docs", "docs.md", "What was documented")],
    acceptance_criteria: { "The changelog has an entry for the issue": true },
  };
}

async function search(names) {
  const defining = [];
  const mentioning = [];
  for (const path of await filesOf(workspace)) {
    const text = await readFile(join(workspace, path), "utf8");
    const isDefinition = names.some((name) => new RegExp(`\\b(function|const|class) ${name}\\b`).test(text));
    if (isDefinition) defining.push(path);
    else if (names.some((name) => text.includes(name))) mentioning.push(path);
  }
  return { defining, mentioning };
}

async function filesOf(directory) {
  const skipped = new Set([".git", ".claude", "node_modules"]);
  const entries = await readdir(directory, { withFileTypes: true });
  const found = [];
  for (const entry of entries.filter(({ name }) => !skipped.has(name))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) found.push(...(await filesOf(path)));
    else if (entry.isFile() && /\.(m?js|md)$/.test(entry.name)) {
      found.push(relative(workspace, path).replaceAll(sep, "/"));
    }
  }
  return found.sort();
}

async function readSpec() {
  const text = await readIfThere(join(output, "spec.md"));
  if (text === null) throw new SampleAgentError("There is no spec.md. The phase enrich writes it.");
  const files = [...(section(text, /^Files to change$/) ?? "").matchAll(/^- `(.+)`$/gm)].map(
    (match) => match[1],
  );
  return { files, criteria: criteriaOf(section(text, /^Acceptance criteria$/) ?? "") };
}

async function fixKnownBug(files) {
  for (const path of files) {
    const file = resolve(workspace, path);
    if (!file.startsWith(workspace + sep)) throw new SampleAgentError(`${path} is outside the workspace.`);
    const source = (await readIfThere(file)) ?? "";
    if (!source.includes(KNOWN_BUG)) continue;
    await writeFile(
      file,
      source.replace(KNOWN_BUG, () => KNOWN_FIX),
    );
    return path;
  }
  throw new SampleAgentError("The tests fail, but not by the one bug that I, a script, know how to fix.");
}

/** Runs `node --test` in the workspace. It must not think itself a part of a test run that this one is within. */
async function runTests() {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { cwd: workspace, env: { ...env, NO_COLOR: "1" }, maxBuffer: 16 * 1024 * 1024 };
  const [exitCode, printed] = await new Promise((done) => {
    execFile(process.execPath, ["--test", "--test-reporter=spec"], options, (error, stdout, stderr) =>
      done([error ? error.code : 0, stdout + stderr]),
    );
  });
  const text = stripVTControlCharacters(printed).replaceAll(workspace, ".").trim();
  const count = (what) => Number(new RegExp(`^\\S+ ${what} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  const counts = `${count("pass")} passed, ${count("fail")} failed`;
  // No test at all exits with 0 too, and shows nothing.
  return { passed: exitCode === 0 && count("pass") > 0, counts, output: text.slice(-20_000) };
}

/** The notes by section. What an earlier attempt or phase noted is kept; a phase has one line of status. */
async function openNotes(path, phase) {
  const before = (await readIfThere(path)) ?? "";
  const lines = new Map(SECTIONS.map((name) => [name, bulletsOf(section(before, name) ?? "")]));
  const save = async () => {
    const parts = SECTIONS.map((name) => `## ${name}\n\n${list(lines.get(name))}`);
    await writeFile(path, `${[`# Notes\n\n${BY}`, ...parts].join("\n\n")}\n`);
  };
  return {
    async add(name, text) {
      const line = `${phase}: ${oneLine(text)}`;
      if (!lines.get(name).includes(line)) lines.get(name).push(line);
      await save();
    },
    /** In the words that the gates on notes look for. */
    async completed(name) {
      const others = lines.get("Status").filter((line) => !/^(Step completed|Verdict)/.test(line));
      lines.set("Status", [...others, `Step completed: ${name}`, "Verdict: APPROVED"]);
      await save();
    },
    async status(text) {
      const others = lines.get("Status").filter((line) => !line.startsWith(`${phase}: `));
      lines.set("Status", [...others, `${phase}: ${oneLine(text)}`]);
      await save();
    },
  };
}

async function step(message, percent) {
  await appendFile(variable("CRUNCH_PROGRESS"), `${JSON.stringify({ message, percent })}\n`);
  console.log(message);
  await pause(pace);
}

async function writeResult({ summary, outputs = [], acceptance_criteria = {}, vote }) {
  const result = {
    summary: `${summary} (${BY})`,
    outputs,
    token_usage: { input: 0, output: 0 },
    acceptance_criteria,
    vote,
  };
  await writeFile(variable("CRUNCH_RESULT"), JSON.stringify(result));
}

function withEntry(changelog, entry) {
  const heading = "## Unreleased\n";
  if (changelog.includes(heading)) return changelog.replace(heading, () => `${heading}\n${entry}`);
  const firstRelease = changelog.search(/^## /m);
  const at = firstRelease === -1 ? changelog.length : firstRelease;
  return `${changelog.slice(0, at).trimEnd()}\n\n${heading}\n${entry}\n\n${changelog.slice(at)}`
    .trimEnd()
    .concat("\n");
}

/** What is under the first heading of the second level that matches. */
function section(markdown, heading) {
  for (const part of `\n${markdown}`.split(/\n## /).slice(1)) {
    const [title, ...rest] = part.split("\n");
    if (typeof heading === "string" ? title === heading : heading.test(title)) return rest.join("\n").trim();
  }
  return null;
}

function criteriaOf(markdown) {
  const found = bulletsOf(markdown).map((line) => line.replace(/^\[.\] /, "").slice(0, 200));
  return found.length > 0 ? found : ["The tests pass"];
}

function bulletsOf(markdown) {
  return [...markdown.matchAll(/^- (?!none$)(.+)$/gm)].map((match) => match[1].trim());
}

function met(spec) {
  return Object.fromEntries(spec.criteria.map((criterion) => [criterion, true]));
}

function outputFile(name, file, summary) {
  return { name, path: `${context.output_folder}/${file}`, summary };
}

function list(lines) {
  return lines.length > 0 ? lines.map((line) => `- ${line}`).join("\n") : "- none";
}

function quote(text) {
  return text.replace(/^/gm, "> ");
}

function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** A code block that its content cannot close. */
function fence(text) {
  const runs = [...text.matchAll(/`+/g)].map((match) => match[0].length);
  const ticks = "`".repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${ticks}text\n${text}\n${ticks}`;
}

async function readIfThere(path) {
  return readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}

function variable(name) {
  const value = process.env[name];
  if (value) return value;
  console.error(`$${name} is not set. Crunch sets it: see docs/agent-contract.md.`);
  process.exit(2);
}
