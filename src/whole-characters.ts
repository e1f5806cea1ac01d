/** The beginning of a text; half a character at its end is left out, because it is no text that JSON or git takes. */
export function beginningOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
}

/** The end of a text, without half a character before it. */
export function endOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(text.length - most).replace(/^[\uDC00-\uDFFF]/, "");
}
