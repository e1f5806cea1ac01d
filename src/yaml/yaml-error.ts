import { CrunchError } from "../errors.js";

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type YamlErrorCode =
  | "yaml_too_large"
  | "yaml_too_deep"
  | "yaml_alias"
  | "yaml_tag"
  | "yaml_duplicate_key"
  | "yaml_syntax";

/** Why a YAML text was refused, and where. `detail` is the message without the place. */
export class YamlError extends CrunchError implements Position {
  readonly line: number;
  readonly column: number;
  readonly detail: string;

  constructor(options: { code: YamlErrorCode; detail: string; at: Position; hint: string; cause?: unknown }) {
    const { code, detail, at, hint, cause } = options;
    super({ code, message: `${detail} (line ${at.line}, column ${at.column})`, hint, cause });
    this.line = at.line;
    this.column = at.column;
    this.detail = detail;
  }
}

/** Line and column, both from 1, of an offset. The starts of lines are found once, when first asked for. */
export function positions(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
