/**
 * Options in the remedies of errors. A library does not know who calls it, so a remedy quotes an option as a program sets it, and the command line and the
 * server replace the quotes by their own spelling.
 */

/** An option in backticks, with its value if one is given: `` `truncate: "cut"` ``. */
export function quoteOption(name: string, value?: string | boolean | readonly string[]): string {
  return value === undefined ? `\`${name}\`` : `\`${name}: ${JSON.stringify(value)}\``;
}

/** The text with each quoted option replaced by what `spell` returns. Where `spell` returns undefined, the quote stays. */
export function spellOptions(text: string, spell: (name: string, value: unknown) => string | undefined): string {
  return text.replaceAll(/`([a-z][A-Za-z]*)(?:: ("[^"`]*"|true|false|\["[^`]*"\]))?`/g, (quote, name: string, value?: string) => {
    return spell(name, value === undefined ? undefined : JSON.parse(value)) ?? quote;
  });
}
