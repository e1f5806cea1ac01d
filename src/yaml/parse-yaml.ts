import { isUtf8 } from "node:buffer";
import { Composer, CST, type Document, Lexer, type ParsedNode, Parser, type YAMLParseError } from "yaml";
import { plainValue, startOf } from "./plain-value.js";
import { type Position, positions, YamlError } from "./yaml-error.js";

export interface YamlLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

export interface ParsedYaml {
  readonly value: unknown;
  /** Where an entry begins (its key, or its place in a list), or its nearest parent when it is absent. */
  locate(path: readonly PropertyKey[]): Position;
}

type PositionAt = (offset: number) => Position;

/**
 * Composed, a token of one byte takes some 300 bytes or more, so that size alone is no limit: 50 MB of `[0,0,0…`
 * would exhaust the memory. With this limit the worst such text measured, `[{},{},…`, needs 1.5 GB.
 */
const maxTokens = 3_000_000;

/** One YAML document as plain data. Text from outside: no anchors, aliases, merge keys, tags, directives. */
export function parseYaml(text: string | Buffer, limits: YamlLimits): ParsedYaml {
  const source = decode(text, limits.maxBytes);
  const positionAt = positions(source);
  const document = compose(source, limits.maxDepth, positionAt);
  const contents = document?.contents ?? null;
  return {
    value: contents === null ? null : plainValue(contents, positionAt),
    locate: (path) => positionAt(contents === null ? 0 : startOf(contents, path)),
  };
}

function decode(text: string | Buffer, maxBytes: number): string {
  const bytes = typeof text === "string" ? Buffer.byteLength(text) : text.length;
  const at = { line: 1, column: 1 };
  if (bytes > maxBytes) {
    throw new YamlError({
      code: "yaml_too_large",
      detail: `the file has ${bytes} bytes, more than the limit of ${maxBytes}`,
      at,
      hint: "Make the file smaller.",
    });
  }
  if (typeof text === "string") return text;
  if (isUtf8(text)) return text.toString("utf8");
  throw new YamlError({
    code: "yaml_syntax",
    detail: "the file is not UTF-8 text",
    at,
    hint: "Save it as UTF-8.",
  });
}

type ComposedDocument = Document.Parsed<ParsedNode, true>;

function compose(source: string, maxDepth: number, positionAt: PositionAt): ComposedDocument | null {
  const parser = new Parser();
  const documents: CST.Document[] = [];
  const take = (tokens: Iterable<CST.Token>) => {
    for (const token of tokens) {
      if (token.type === "error") throw syntaxError(token.message, positionAt(token.offset), token);
      if (token.type !== "document") continue;
      documents.push(token);
      if (documents.length > 1) {
        throw syntaxError("a second document begins here", positionAt(token.offset));
      }
    }
  };

  let isScalarNext = false;
  let count = 0;
  for (const lexeme of new Lexer().lex(source)) {
    if (isScalarNext) isScalarNext = false;
    else if (lexeme === CST.SCALAR) isScalarNext = true;
    else refuseFeature(lexeme, () => positionAt(parser.offset));

    take(parser.next(lexeme));
    count += 1;
    // The stack is what later recursion follows, in flow and block style alike. Two of its levels are the
    // document and a scalar.
    if (parser.stack.length > maxDepth + 2) {
      throw new YamlError({
        code: "yaml_too_deep",
        detail: `values are nested more than ${maxDepth} levels deep`,
        at: positionAt(parser.offset),
        hint: "Make the nesting flatter.",
      });
    }
    if (count > maxTokens) {
      throw new YamlError({
        code: "yaml_too_large",
        detail: `the file has more than ${maxTokens} parts`,
        at: positionAt(parser.offset),
        hint: "Make the file smaller.",
      });
    }
  }
  take(parser.end());
  const [document] = documents;
  return document === undefined ? null : composeDocument(document, positionAt);
}

function composeDocument(token: CST.Document, positionAt: PositionAt): ComposedDocument | null {
  const composer = new Composer<ParsedNode, true>({
    // The library's own check compares every key with every other; plainValue() checks in linear time.
    uniqueKeys: false,
    // An excerpt of the text in each message would be hostile text in our messages.
    prettyErrors: false,
    logLevel: "silent",
  });
  // Stop at the first error: a text can hold millions, and collecting them exhausts the memory.
  let first: YAMLParseError | undefined;
  composer.streamInfo().errors.push = (error) => {
    first ??= error;
    throw first;
  };
  try {
    const [document] = [...composer.next(token), ...composer.end()];
    return document ?? null;
  } catch (error) {
    if (first === undefined) throw error;
    throw syntaxError(first.message, positionAt(first.pos[0]), first);
  }
}

function syntaxError(reason: string, at: Position, cause?: unknown): YamlError {
  return new YamlError({
    code: "yaml_syntax",
    detail: `this is not valid YAML: ${reason}`,
    at,
    hint: "Correct the YAML at this place. A file holds one document.",
    cause,
  });
}

const refusedFeatures = {
  anchor: "anchors (&name) are not allowed",
  alias: "aliases (*name) are not allowed",
  tag: "tags (!name) are not allowed",
  "directive-line": "directives (%NAME) are not allowed",
} as const;

function refuseFeature(lexeme: string, at: () => Position): void {
  const type = CST.tokenType(lexeme);
  if (type !== "anchor" && type !== "alias" && type !== "tag" && type !== "directive-line") return;
  throw new YamlError({
    code: type === "anchor" || type === "alias" ? "yaml_alias" : "yaml_tag",
    detail: refusedFeatures[type],
    at: at(),
    hint: "Write the value out, or put the text in quotes.",
  });
}
