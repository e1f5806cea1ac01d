import MarkdownIt from "markdown-it";

// Without `html`, whatever tags people and agents write are shown as text.
const markdown = new MarkdownIt({ html: false, linkify: false });

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Markdown as GitHub would show it, without the hidden HTML comments. `root` is where `#12` leads to. */
export function prose(text: string, root: string): string {
  const shown = text.replace(/<!--[\s\S]*?(-->|$)/g, "").trim();
  const html = markdown
    .render(shown)
    .replace(/&lt;(\/?(?:details|summary))&gt;/g, "<$1>")
    .replace(/(^|[\s(>])#(\d+)\b/g, `$1<a href="${escapeHtml(root)}/issues/$2">#$2</a>`);
  return `<div class="prose">${html}</div>`;
}

const style = `
body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
h1{font-size:1.5rem;margin-bottom:.25rem} h2{font-size:1.1rem;margin-top:2rem}
.prose{overflow-wrap:break-word} .prose>:first-child{margin-top:0} .prose>:last-child{margin-bottom:0} .meta{color:#59636e}
table{border-collapse:collapse} td,th{border:1px solid #d1d9e0;padding:.3rem .7rem;text-align:left;vertical-align:top}
code{background:#f1f3f5;border-radius:.25rem;padding:.1rem .3rem;font-size:.9em} pre code{background:none;padding:0}
.label{border:1px solid #d1d9e0;border-radius:1rem;padding:.1rem .6rem;margin-right:.3rem;font-size:.85rem}
article{border:1px solid #d1d9e0;border-radius:.4rem;padding:.6rem 1rem;margin:1rem 0}
pre{background:#f6f8fa;padding:1rem;overflow:auto} a{color:#0969da;text-decoration:none}
`;

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>`;
}
