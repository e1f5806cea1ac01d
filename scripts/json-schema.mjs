// Writes schema/, which editors read: from the configuration's own schema, with the words of docs/.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { jsonSchemas } from "../lib/config/json-schema.js";

const root = new URL("../", import.meta.url);
const page = (name) => readFileSync(new URL(`docs/${name}.md`, root), "utf8");

mkdirSync(new URL("schema/", root), { recursive: true });
const schemas = jsonSchemas({ configuration: page("configuration"), workflows: page("workflows-yaml") });
for (const [file, schema] of Object.entries(schemas)) {
  writeFileSync(new URL(`schema/${file}`, root), `${JSON.stringify(schema, null, 2)}\n`);
}
