export { renderDiffMarkdown } from "./diff-markdown.js";
export { renderDiffText } from "./diff-text.js";
