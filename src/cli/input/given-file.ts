/** Files that arguments and flags name. */
import { readFile } from "node:fs/promises";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";

/** How a file is read. */
export interface GivenFileOptions {
  /** Its name in messages. Default: the path. */
  readonly name?: string;
  /** Remedy of a file that cannot be read, or is not JSON. Default: none. */
  readonly remedy?: string;
}

/** The bytes of a file. Throws INPUT_INVALID if it cannot be read. */
export async function readGivenFile(path: string, { name = path, remedy }: GivenFileOptions = {}): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${name} cannot be read: ${getMessage(error)}`, {
      cause: error,
      ...omitUndefined({ remedy }),
    });
  }
}

/** The text of a file. Throws INPUT_INVALID if it cannot be read. */
export async function readGivenText(path: string, options?: GivenFileOptions): Promise<string> {
  return (await readGivenFile(path, options)).toString("utf8");
}

/** The value of a text of JSON; `name` is for messages. `parse`: Default: `JSON.parse`. Throws INPUT_INVALID for other text. */
export function parseGivenJson(
  text: string,
  name: string,
  remedy?: string,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${name} is not JSON: ${getMessage(error)}`, {
      cause: error,
      ...omitUndefined({ remedy }),
    });
  }
}
