/** Escapes of string literals: Python's codec "unicode-escape". */
import { TemplateFailure, TemplateUnsupported } from "../errors.ts";

const simple: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const escape = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|([^]))/g;

/** The text of a literal without its quotes. */
export function decodeString(literal: string, line: number): string {
  if (!literal.includes("\\")) return literal;
  return literal.replaceAll(escape, (whole, ...groups: readonly (string | undefined)[]) => {
    const [byte, unit, point, octal, other] = groups;
    const hexadecimal = byte ?? unit ?? point;
    if (hexadecimal !== undefined) return getCharacter(Number.parseInt(hexadecimal, 16), line);
    if (octal !== undefined) return getCharacter(Number.parseInt(octal, 8), line);
    if (other === "x" || other === "u" || other === "U") throw new TemplateFailure(`truncated \\${other} escape`, line);
    if (other === "N") throw new TemplateUnsupported("\\N escapes are not supported", line);
    return simple[other ?? ""] ?? whole;
  });
}

function getCharacter(point: number, line: number): string {
  if (point > 0x10_ff_ff) throw new TemplateFailure("illegal Unicode character", line);
  return String.fromCodePoint(point);
}
