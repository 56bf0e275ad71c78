/** Types of C++ as text: what a declaration declares stands inside of them. */

/** A type as C++ writes it, in two parts around the declared name, as in "int (*" and ")(char)". */
export interface TypeText {
  readonly left: string;
  readonly right: string;
}

/** The type without a declared name. */
export function toTypeText({ left, right }: TypeText): string {
  return left.trimEnd() === left || right === "" ? (left + right).trimEnd() : `${left}${right}`;
}

/** The declaration of a function that returns the type. */
export function declare({ left, right }: TypeText, call: string): string {
  return `${left}${left.endsWith(" ") ? "" : " "}${call}${right}`;
}

/** A pointer or reference to the type; pointers to functions and arrays are parenthesized. */
export function point({ left, right }: TypeText, sign: string): TypeText {
  if (/^(?:\(| \[)/.test(right)) return { left: `${left}${left.endsWith(" ") ? "" : " "}(${sign}`, right: `)${right}` };
  if (sign.startsWith("&") && left.endsWith("&")) return { left: sign === "&" ? left.replace(/&+$/, "&") : left, right }; // references collapse
  return { left: `${left}${sign.length > 2 ? " " : ""}${sign}`, right };
}

/** The type with " const" or " volatile" at its place. */
export function qualify({ left, right }: TypeText, constant: string): TypeText {
  return right === "" || right.startsWith(")") ? { left: left + constant, right } : { left, right: right + constant };
}

/** The last part of a qualified name, without template arguments: the name of its constructors. */
export function lastName(text: string): string {
  let depth = 0;
  let start = 0;
  let end = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === "<" && depth++ === 0) end = index;
    else if (character === ">") depth -= 1;
    else if (depth === 0 && character === ":") [start, end] = [index + 1, text.length];
  }
  return text.slice(start, end);
}
