import type { Call } from "./route.js";

/** A page of a list the front itself holds, with GitHub's `Link` header. */
export function paged<T>(
  call: Call,
  all: readonly T[],
): { items: readonly T[]; headers: Record<string, string> } {
  const asked = (name: string, otherwise: number) => Number(call.query.get(name) ?? otherwise) || otherwise;
  const size = Math.min(100, Math.max(1, asked("per_page", 30)));
  const page = Math.max(1, asked("page", 1));
  const last = Math.max(1, Math.ceil(all.length / size));
  const link = (to: number, rel: string) => {
    const url = new URL(call.target, call.front.parts.url);
    url.searchParams.set("page", String(to));
    return `<${url}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link(page - 1, "prev"), link(1, "first")] : []),
    ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
  ];
  const headers: Record<string, string> = links.length > 0 ? { link: links.join(", ") } : {};
  return { items: all.slice((page - 1) * size, page * size), headers };
}
