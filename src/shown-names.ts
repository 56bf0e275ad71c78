/** A list of names for a message: all of a few, and of many the first, with how many there are besides. */
export function abbreviatedList(names: readonly string[]): string {
  const most = 3;
  if (names.length <= most) return names.join(", ");
  return `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
