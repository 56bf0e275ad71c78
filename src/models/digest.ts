/** SHA-256 digests of weights: for the decision record, and to verify a file against its manifest. */
import { getMessage } from "../contract/errors.ts";
import { fileStatus, computeSha256 } from "../platform/node/files.ts";
import { modelInvalid } from "../formats/format-errors.ts";

/**
 * A cache of the SHA-256 digests of files. An entry is valid while the file keeps its size and modification time. The owner
 * decides how long the cache lives.
 */
export interface DigestCache {
  readonly digests: Map<string, Promise<string>>;
}

/** Creates an empty cache of file digests. */
export function createDigestCache(): DigestCache {
  return { digests: new Map() };
}

/**
 * The SHA-256 of the file at `path`, in hexadecimal. The file is streamed; concurrent calls with the same cache share one read. Throws
 * MODEL_INVALID if the file cannot be read.
 */
export async function computeDigest(
  variant: { readonly path: string },
  memo: DigestCache = createDigestCache(),
): Promise<string> {
  const { path } = variant;
  try {
    const { size, mtimeMs } = await fileStatus(path);
    const key = `${path}\0${size}\0${mtimeMs}`;
    const known = memo.digests.get(key);
    if (known !== undefined) return await known;
    const digest = computeSha256(path);
    memo.digests.set(key, digest);
    digest.catch(() => memo.digests.delete(key));
    return await digest;
  } catch (error) {
    throw modelInvalid(`${path} cannot be read: ${getMessage(error)}`, "check that the file is there and may be read", error);
  }
}
