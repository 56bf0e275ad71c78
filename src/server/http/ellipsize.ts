/** A text with its end left out where it is longer than `characters`. */
export function ellipsize(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 1)}…`;
}
