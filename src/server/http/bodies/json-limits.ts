/** Bounds on a JSON text, checked in one linear scan before it is parsed. */
import { InferyardError } from "../../../contract/errors.ts";

/** Limits on a JSON text. */
export interface JsonLimits {
  /** Maximum depth of nested arrays and objects. */
  readonly depth: number;
  /** Maximum number of values: scalars, arrays and objects. Names of members do not count. */
  readonly values: number;
  /** Maximum number of arrays, objects and members of objects, which cost the parser several times as much as scalars. */
  readonly structures: number;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const colon = 0x3a;
const space = 0x20;

/**
 * The number of values in a JSON text in UTF-8. Throws LIMIT_EXCEEDED if the text exceeds a limit. Whether it is valid JSON is left to the
 * parser.
 */
export function countJsonValues(bytes: Uint8Array, limits: JsonLimits): number {
  let depth = 0;
  let values = 1;
  let structures = 0;
  let opened = false; // whether the last token opened an array or an object
  for (let index = 0; index < bytes.length; index += 1) {
    const code = bytes[index];
    if (code === undefined || code <= space) continue;
    if (code === openBracket || code === openBrace) {
      depth += 1;
      structures += 1;
      if (depth > limits.depth) throw tooDeep(limits.depth);
      if (structures > limits.structures) throw tooMany("arrays, objects and members", limits.structures);
      if (opened) values += 1;
      opened = true;
      continue;
    }
    if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (code === comma || opened) values += 1;
    else if (code === colon) structures += 1;
    if (values > limits.values) throw tooMany("values", limits.values);
    opened = false;
    if (code === quote) index = endOfString(bytes, index);
  }
  if (structures > limits.structures) throw tooMany("arrays, objects and members", limits.structures);
  return values;
}

/** The index of the closing quotation mark of the string that begins at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  for (; index < bytes.length; index += 1) {
    const code = bytes[index];
    if (code === backslash) index += 1;
    else if (code === quote) break;
  }
  return index;
}

function tooDeep(limit: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `the JSON body nests deeper than ${limit} levels`, {
    remedy: "send a flatter body, or raise maxJsonDepth",
    data: { limit },
  });
}

function tooMany(what: string, limit: number): InferyardError {
  return new InferyardError("LIMIT_EXCEEDED", `the JSON body has more than ${limit} ${what}`, {
    remedy: "send less at once, or raise maxJsonValues",
    data: { limit },
  });
}
