/**
 * Plain data as YAML that every parser reads back as exactly the same data. Of our own, because whatever a
 * general writer folds, trims or leaves unquoted would change the text of an issue.
 */
export function emitYaml(value: Readonly<Record<string, unknown>>): string {
  const out: string[] = [];
  emitMap(value, "", out);
  return out.join("");
}

/** Text on one line, quoted unless no parser could take it for anything else. */
export function emitText(text: string): string {
  return isPlain(text) ? text : quoted(text);
}

function emitMap(
  map: Readonly<Record<string, unknown>>,
  indent: string,
  out: string[],
  firstIndent = indent,
): void {
  let lead = firstIndent;
  for (const [key, value] of Object.entries(map)) {
    const name = emitText(key);
    // A key without `?` may have 1,024 characters at most.
    if (name.length > 1000) out.push(lead, "? ", name, "\n", indent, ":");
    else out.push(lead, name, ":");
    lead = indent;
    emitValue(value, indent, out);
  }
}

function emitValue(value: unknown, indent: string, out: string[]): void {
  if (Array.isArray(value)) {
    if (value.length === 0) out.push(" []\n");
    else {
      out.push("\n");
      for (const item of value) {
        out.push(indent, "  -");
        if (isFilledMap(item)) emitMap(item, `${indent}    `, out, " ");
        else emitValue(item, `${indent}  `, out);
      }
    }
  } else if (isFilledMap(value)) {
    out.push("\n");
    emitMap(value, `${indent}  `, out);
  } else if (typeof value === "object" && value !== null) out.push(" {}\n");
  else if (typeof value === "string") emitString(value, indent, out);
  else if (Object.is(value, -0)) out.push(" -0\n");
  else out.push(" ", String(value), "\n");
}

function isFilledMap(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

function emitString(text: string, indent: string, out: string[]): void {
  if (!isBlock(text)) {
    out.push(" ", emitText(text), "\n");
    return;
  }
  const ending = text.endsWith("\n");
  out.push(ending ? " |\n" : " |-\n");
  for (const line of (ending ? text.slice(0, -1) : text).split("\n")) {
    if (line === "") out.push("\n");
    else out.push(indent, "  ", line, "\n");
  }
}

const plain = /^[A-Za-z](?:[A-Za-z0-9_./@+()-]|:(?=[A-Za-z0-9/])|,(?= )| (?=[A-Za-z0-9(]))*$/;
/** What YAML 1.1 or 1.2 reads as a truth value, as nothing or as a number. */
const reserved = /^(?:y|yes|n|no|true|false|on|off|null)$/i;

function isPlain(text: string): boolean {
  return text.length <= 200 && plain.test(text) && !reserved.test(text);
}

// C0 but tab and newline, C1, the separators that some parsers take for line ends, the byte order mark.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;
const escaped = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Text of several lines stays readable in a diff, as long as its lines need no care about white space. */
function isBlock(text: string): boolean {
  return (
    text.includes("\n") &&
    !/^\s|\n\n$/.test(text) &&
    !/[ \t](?:\n|$)/.test(text) &&
    !/\n\t/.test(text) &&
    !unprintable.test(text) &&
    !/\p{Surrogate}/u.test(text)
  );
}

/** JSON's form is YAML's too, and it escapes lone surrogates, which UTF-8 could not carry. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    escaped,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
