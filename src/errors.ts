/** An error for a person: what happened (`message`), why (`cause`) and what to do next (`hint`). */
export class CrunchError extends Error {
  override readonly name = "CrunchError";
  readonly code: string;
  readonly hint: string;

  constructor(options: { code: string; message: string; hint: string; cause?: unknown }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.hint = options.hint;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
