/** SHA-256 of weights: for the decision record and to hold a file against what its manifest states. */
import { messageOf } from "../errors.ts";
import { fileStatus, sha256Of } from "../platform/node/files.ts";
import { modelInvalid } from "./model-folder.ts";

/** Remembers digests while a file keeps its size and time of change; its owner decides how long. */
export interface DigestCache {
  readonly digests: Map<string, Promise<string>>;
}

export function createDigestCache(): DigestCache {
  return { digests: new Map() };
}

/** Hexadecimal digest of a variant's file, read as a stream. Two callers at once share one reading. */
export async function digestOf(variant: { readonly path: string }, memo: DigestCache = createDigestCache()): Promise<string> {
  const { path } = variant;
  try {
    const { size, mtimeMs } = await fileStatus(path);
    const key = `${path}\0${size}\0${mtimeMs}`;
    const known = memo.digests.get(key);
    if (known !== undefined) return await known;
    const digest = sha256Of(path);
    memo.digests.set(key, digest);
    digest.catch(() => memo.digests.delete(key));
    return await digest;
  } catch (error) {
    throw modelInvalid(`${path} cannot be read: ${messageOf(error)}`, "check that the file is there and may be read", error);
  }
}
