/** Files that arguments and flags name. */
import { readFile } from "node:fs/promises";
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";

/** The bytes of a file. `displayName`: its path as the user wrote it. Throws INPUT_INVALID, with the remedy, if it cannot be read. */
export async function readGivenFile(path: string, remedy?: string, displayName: string = path): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${displayName} cannot be read: ${getMessage(error)}`, { remedy, cause: error });
  }
}

/** The text of a file. Throws INPUT_INVALID, with the remedy, if it cannot be read. */
export async function readGivenText(path: string, remedy?: string): Promise<string> {
  return (await readGivenFile(path, remedy)).toString("utf8");
}

/** The prompt of `--prompt-file`, without the line break at its end. Throws INPUT_INVALID if the file cannot be read or `--prompt` is given, too. */
export async function readPromptFile({ prompt, promptFile }: PromptFlags): Promise<string | undefined> {
  if (promptFile === undefined) return undefined;
  if (prompt !== undefined) throw invalidInput("--prompt and --prompt-file are both given", "leave one of the two out");
  return (await readGivenText(promptFile)).replace(/\r?\n$/, "");
}

/** Flags of which one gives the prompt. */
interface PromptFlags {
  readonly prompt?: unknown;
  readonly promptFile?: string;
}

/** The value of a JSON text. `place`: its file or flag. Throws INPUT_INVALID, with the remedy, for other texts. */
export function parseGivenJson(
  text: string,
  place: string,
  remedy?: string,
  parse: (json: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${place} is not JSON: ${getMessage(error)}`, { remedy, cause: error });
  }
}
