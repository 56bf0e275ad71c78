/** Fetches a wheel, and holds it against the digest that its index states. */
import { createHash } from "node:crypto";
import { copyFile, rm } from "node:fs/promises";
import { InferyardError } from "../../contract/errors.ts";
import { ContentMismatchError, transfer } from "../../models/hub/transfer.ts";
import { readChunks } from "../../platform/node/read-chunks.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import type { StatedDigest } from "./simple-index.ts";
import { type FoundWheel, indexError } from "./wheel-index.ts";

/** Progress of a transfer. */
export interface WheelProgress {
  readonly bytes: number;
  /** Size of the file in bytes; undefined if the index does not state it. */
  readonly totalBytes: number | undefined;
}

/** The largest known wheel with a plugin has 0.2 GB. */
const maxWheelBytes = 2 * 1024 ** 3;

/** Options of `fetchWheel`. */
export interface FetchWheelOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: WheelProgress) => void) | undefined;
}

/**
 * Writes a wheel to `target`, a path that does not exist. Throws DOWNLOAD_FAILED if its digest or size is another one than the index states, DISK_FULL,
 * OUTPUT_FAILED and ABORTED.
 */
export async function fetchWheel({ file, network }: FoundWheel, target: string, options: FetchWheelOptions = {}): Promise<void> {
  const { signal, onProgress } = options;
  if (network === undefined) return await withDiskErrors(target, () => copyFile(file.url, target));
  let bytes = 0;
  const count = (more: number): void => {
    bytes += more;
    if (bytes > maxWheelBytes)
      throw new InferyardError("LIMIT_EXCEEDED", `${file.name} has more than ${maxWheelBytes} bytes`, {
        remedy: "check the index",
      });
    onProgress?.({ bytes, totalBytes: file.size });
  };
  try {
    await transfer(network, {
      url: file.url,
      what: file.name,
      partial: target,
      size: file.size,
      git: false,
      signal,
      onExisting: count,
      onReceived: count,
      onDiscarded: (discarded) => count(-discarded),
      onRetry: () => undefined,
    });
  } catch (error) {
    throw error instanceof ContentMismatchError ? mismatch(file.name, error.message) : indexError(error);
  }
  if (file.digest === undefined) return;
  const found = await computeDigest(target, file.digest.algorithm);
  if (found === file.digest.value) return;
  await rm(target, { force: true });
  throw mismatch(file.name, `its ${file.digest.algorithm} is ${found}, and the index states ${file.digest.value}`);
}

async function computeDigest(path: string, algorithm: StatedDigest["algorithm"]): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of readChunks(path)) hash.update(chunk);
  return hash.digest("hex");
}

function mismatch(name: string, problem: string): InferyardError {
  return new InferyardError("DOWNLOAD_FAILED", `${name} is not what the index announces: ${problem}`, {
    remedy: "try again later; if it stays so, the index or something on the way changes the file",
  });
}
