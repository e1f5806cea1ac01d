export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Markdown shown as it is written, without the hidden HTML comments. */
export function prose(markdown: string): string {
  const shown = markdown.replace(/<!--[\s\S]*?(-->|$)/g, "").trim();
  return `<div class="prose">${escapeHtml(shown)}</div>`;
}

const style = `
body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
h1{font-size:1.5rem;margin-bottom:.25rem} h2{font-size:1.1rem;margin-top:2rem}
.prose{white-space:pre-wrap;overflow-wrap:anywhere} .meta{color:#59636e}
.label{border:1px solid #d1d9e0;border-radius:1rem;padding:.1rem .6rem;margin-right:.3rem;font-size:.85rem}
article{border:1px solid #d1d9e0;border-radius:.4rem;padding:.6rem 1rem;margin:1rem 0}
pre{background:#f6f8fa;padding:1rem;overflow:auto} a{color:#0969da;text-decoration:none}
`;

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`;
}
