import type { Json } from "./imported.js";
import { isComplete, type Task } from "./progress-schema.js";

/** What the next agent has to know of an agent's tasks, as Markdown: the progress files' context and instructions first. */
export function notesOf(agent: string, tasks: readonly Task[]): string {
  const name = tasks.map(({ original }) => fieldOf(original, "agent_name")).find((one) => one !== undefined);
  const title = typeof name === "string" ? `${line(agent)} (${line(name)})` : line(agent);
  const parts = [`# Notes of ${title}, imported from progress files`, ...tasks.map(sectionOf)];
  return `${parts.join("\n\n")}\n`;
}

function sectionOf(task: Task): string {
  const { file, id } = task;
  const { subtasks, acceptance_criteria_met: criteria } = file;
  const done = subtasks.completed ?? subtasks.items.filter(({ status }) => status === "complete").length;
  const total = subtasks.total ?? subtasks.items.length;
  const open = subtasks.items.filter(({ status }) => status !== "complete");
  const unmet = Object.entries(criteria).filter(([, isMet]) => !isMet);
  const heading = file.task_title === undefined ? line(id) : `${line(id)}: ${line(file.task_title)}`;
  const state = isComplete(task)
    ? "complete"
    : file.status === "complete"
      ? "complete, but not accepted"
      : file.status;
  const parts = [
    `## ${heading}`,
    `Status: ${state}. ${done} of ${total} subtasks are done. Last change: ${task.at}.`,
    file.resume_instructions === null ? "" : `### Go on from here\n\n${file.resume_instructions.trim()}`,
    list(
      "### Context",
      Object.entries(file.context).map(([key, value]) => `${line(key)}: ${shown(value)}`),
    ),
    list(
      "### Subtasks to do",
      open.map(({ id, status }) => `${line(id)} (${line(status)})`),
    ),
    list(
      "### Acceptance criteria not met",
      unmet.map(([name]) => line(name)),
    ),
    list(
      "### Errors",
      file.errors.map(
        ({ type, message, blocking }) => `${line(type)}${blocking ? ", blocking" : ""}: ${line(message)}`,
      ),
    ),
    list(
      "### Reviews",
      Object.entries(file.review_scores).map(([by, score]) => `${line(by)}: ${score ?? "not yet"}`),
    ),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function list(heading: string, items: readonly string[]): string {
  return items.length === 0 ? "" : `${heading}\n\n${items.map((item) => `- ${item}`).join("\n")}`;
}

function shown(value: Json): string {
  return line(typeof value === "string" ? value : JSON.stringify(value));
}

/** On one line, so that no value can pass for a heading of these notes. */
function line(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function fieldOf(value: Json, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
