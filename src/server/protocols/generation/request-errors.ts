/** What the protocols of language models ask for and this version does not do. */
import type { InferyardError } from "../../../contract/errors.ts";
import { invalidInput } from "../../../contract/errors.ts";

/** INPUT_INVALID for a field that requests an unsupported feature. Clients repeat requests that get a 5xx, so it is not NOT_BUILT. */
export function unsupportedField(path: string, what: string, remedy: string): InferyardError {
  return invalidField(path, `${what} is not supported`, remedy);
}

/** INPUT_INVALID for a part of a conversation that is no text: a picture, a sound, a file. `type`: as the client wrote it. */
export function unreadPart(path: string, type: unknown): InferyardError {
  const written = JSON.stringify(typeof type === "string" ? type.slice(0, 80) : type);
  return invalidField(
    path,
    `a part of type ${written} is not read: no engine here takes pictures, sounds or files in conversations`,
    "send text; POST /api/read gives the text of a picture, POST /api/transcribe that of a sound, POST /v1/embeddings the vector of a picture",
  );
}

/** INPUT_INVALID for a field. */
export function invalidField(path: string, problem: string, remedy = "correct it, or leave it out"): InferyardError {
  return invalidInput(`${path}: ${problem}`, remedy, { path: path.split(".") });
}
