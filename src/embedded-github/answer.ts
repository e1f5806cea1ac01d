/** What the front says back; a `Buffer` goes out as it is, any other body as JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export function answer(status: number, body?: unknown, headers: Record<string, string> = {}): Answer {
  return { status, headers, body };
}

export function refusal(status: number, message: string, extra: Record<string, unknown> = {}): Answer {
  return answer(status, {
    message,
    ...extra,
    documentation_url: "https://docs.github.com/rest",
    status: String(status),
  });
}

export const notFound = (): Answer => refusal(404, "Not Found");

/** GitHub's shape of a 422: `Validation Failed` with the reasons in `errors`. */
export function invalid(resource: string, field: string, code: string, message?: string): Answer {
  const error = { resource, field, code, ...(message === undefined ? {} : { message }) };
  return refusal(422, "Validation Failed", { errors: [error] });
}

export const succeeded = (one: Answer): boolean => one.status >= 200 && one.status < 300;
