/** The text, shortened to `characters` UTF-16 units with an ellipsis at its end where it is longer. */
export function ellipsize(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 1)}…`;
}
