/** The text if GitHub takes one so long, else its beginning and a note that says where it was cut. */
export function cut(text: string, longest: number, note: string): string {
  if (text.length <= longest) return text;
  // Half of a surrogate pair at the end would not be valid JSON text for GitHub.
  return text.slice(0, longest - note.length).replace(/[\uD800-\uDBFF]$/, "") + note;
}
