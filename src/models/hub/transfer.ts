/** Downloads one file into a partial file, and resumes where an earlier attempt or process stopped. */
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import { type Digests, contentHash, hashInto } from "../store/blobs.ts";
import { diskError, freeBytes, withDiskErrors, diskFullRemedy, statOrUndefined } from "../../storage/disk.ts";
import type { HttpResponse } from "./proxy.ts";
import { type Network, sendRequest } from "./request.ts";
import { TransientError, type Retry, withRetries } from "./retry.ts";

/** A file to be downloaded by `transfer`, and the callbacks that count its bytes. */
export interface TransferRequest {
  readonly url: string;
  /** Name of the file in messages. */
  readonly what: string;
  /** Absolute path of the partial file. The bytes it has are kept. */
  readonly partial: string;
  /** Bytes of the complete file, if they are known. */
  readonly size?: number | undefined;
  /** Whether the git digest is computed too; `size` must then be known. */
  readonly git: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes that the partial file has at the start. */
  readonly onExisting: (bytes: number) => void;
  /** Called with the bytes of each chunk. */
  readonly onReceived: (bytes: number) => void;
  /** Called with the bytes that are discarded and fetched again. */
  readonly onDiscarded: (bytes: number) => void;
  readonly onRetry: (retry: Retry) => void;
}

/** The digests and size of a file that `transfer` downloaded. */
export interface TransferResult extends Digests {
  /** Bytes of the file. */
  readonly size: number;
}

/** Thrown if the server sends other content than it announced, so that a retry from the same position is useless. */
export class ContentMismatchError extends Error {
  override readonly name = "WrongContent";
}

/**
 * Downloads a file, continuing its partial file if there is one. When this returns, the partial file has its full size and is
 * flushed; the caller verifies the digests. After a failure the received bytes stay. Throws ContentMismatchError,
 * DOWNLOAD_FAILED, DISK_FULL, OUTPUT_FAILED or ABORTED.
 */
export async function transfer(network: Network, request: TransferRequest): Promise<TransferResult> {
  const { partial, what, url, signal, onRetry } = request;
  await withDiskErrors(partial, () => mkdir(dirname(partial), { recursive: true }));
  const file = await PartialFile.open(request);
  try {
    const retrying = { timing: network.timing, what, url, signal, onRetry, arrived: () => file.received };
    await withRetries(retrying, () => fetchRemaining(network, request, file));
    return await file.finish();
  } finally {
    await file.close();
  }
}

async function fetchRemaining(network: Network, request: TransferRequest, file: PartialFile): Promise<void> {
  if (file.bytes === request.size) return;
  const { url, what, signal } = request;
  // A range of a compressed response would be a range of the compressed bytes.
  const headers = { "accept-encoding": "identity", ...(file.bytes === 0 ? {} : { range: `bytes=${file.bytes}-` }) };
  await sendRequest(network, { url, headers, what, signal }, async (answer, body) => {
    const total = await prepareForResponse(answer, request, file);
    if (total === "whole") return;
    for await (const chunk of body) {
      if (total !== undefined && file.bytes + chunk.length > total) throw new ContentMismatchError("it is longer than announced");
      await file.append(chunk);
    }
    if (total !== undefined && file.bytes < total) throw new TransientError(`it was cut after ${file.bytes} of ${total} bytes`);
  });
}

/** Prepares the partial file for the body of the response. Returns the size of the complete file if it is known, or "whole" if nothing is missing. */
async function prepareForResponse(
  answer: HttpResponse,
  { size, partial, what }: TransferRequest,
  file: PartialFile,
): Promise<number | undefined | "whole"> {
  const range = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(answer.headers.get("content-range") ?? "");
  const whole = range?.[2] === undefined || range[2] === "*" ? undefined : Number(range[2]);
  if (answer.status === 416) {
    if (size === undefined && whole === file.bytes) return "whole";
    await file.restart();
    throw new TransientError("the server has no such part of it");
  }
  if (answer.status === 206) {
    if (Number(range?.[1]) !== file.bytes) {
      await file.restart();
      throw new TransientError("the server sent another part than the one that was asked for");
    }
    const announced = size ?? whole;
    if (whole !== undefined && announced !== whole) throw new ContentMismatchError(`it has ${whole} bytes, not ${announced}`);
    return announced;
  }
  if (file.bytes > 0) await file.restart(); // the server does not support ranges
  const length = Number(answer.headers.get("content-length") ?? Number.NaN);
  if (size !== undefined || Number.isNaN(length)) return size;
  if ((await freeBytes(dirname(partial))) < length) {
    throw new InferyardError("DISK_FULL", `there is no room for ${what} (${length} bytes) in ${dirname(partial)}`, {
      remedy: diskFullRemedy,
    });
  }
  return length;
}

/** A partial file and the digests of its content. */
class PartialFile {
  readonly #request: TransferRequest;
  readonly #handle: FileHandle;
  #hash: ReturnType<typeof contentHash>;
  #bytes = 0;
  #received = 0;

  private constructor(request: TransferRequest, handle: FileHandle) {
    this.#request = request;
    this.#handle = handle;
    this.#hash = contentHash(request.git ? request.size : undefined);
  }

  static async open(request: TransferRequest): Promise<PartialFile> {
    const { partial, size = Infinity, signal, onExisting } = request;
    const there = (await statOrUndefined(partial))?.size ?? 0;
    if (there > size) await withDiskErrors(partial, () => rm(partial, { force: true }));
    const handle = await withDiskErrors(partial, () => open(partial, "a", 0o644));
    const file = new PartialFile(request, handle);
    const now = new Date();
    await withDiskErrors(partial, () => handle.utimes(now, now)); // so that a concurrent `prune` keeps it
    if (there > 0 && there <= size) {
      try {
        await hashInto(file.#hash, partial, signal);
      } catch (error) {
        await handle.close();
        throw diskError(partial, error);
      }
      file.#bytes = there;
      onExisting(there);
    }
    return file;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes received since the file was opened. */
  get received(): number {
    return this.#received;
  }

  async append(chunk: Uint8Array): Promise<void> {
    const { partial, onReceived } = this.#request;
    for (let written = 0; written < chunk.length;) {
      const rest = chunk.subarray(written);
      const { bytesWritten } = await withDiskErrors(partial, () => this.#handle.write(rest));
      this.#hash.update(rest.subarray(0, bytesWritten));
      written += bytesWritten;
      this.#bytes += bytesWritten;
    }
    this.#received += chunk.length;
    onReceived(chunk.length);
  }

  async restart(): Promise<void> {
    await withDiskErrors(this.#request.partial, () => this.#handle.truncate(0));
    this.#request.onDiscarded(this.#bytes);
    this.#bytes = 0;
    this.#hash = contentHash(this.#request.git ? this.#request.size : undefined);
  }

  async finish(): Promise<TransferResult> {
    await withDiskErrors(this.#request.partial, () => this.#handle.sync());
    return { ...this.#hash.digest(), size: this.#bytes };
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
