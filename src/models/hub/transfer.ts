/** One file over the network into a file under way, going on where an earlier attempt or an earlier process ended. */
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { InferyardError } from "../../errors.ts";
import { type Digests, contentHash, hashInto } from "../store/blobs.ts";
import { diskError, freeBytes, withDiskErrors, diskFullRemedy, statOrUndefined } from "../store/disk.ts";
import type { HttpResponse } from "./proxy.ts";
import { type Network, sendRequest } from "./request.ts";
import { TransientError, type Retry, withRetries } from "./retry.ts";

export interface TransferRequest {
  readonly url: string;
  /** For messages. */
  readonly what: string;
  /** Absolute path of the file under way; what it holds is gone on from. */
  readonly partial: string;
  /** Bytes of the whole, where they are known beforehand. */
  readonly size?: number | undefined;
  /** Whether git's digest is wanted as well; then the size must be known. */
  readonly git: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Bytes that were there already. */
  readonly onFound: (bytes: number) => void;
  readonly onArrived: (bytes: number) => void;
  /** Bytes that have to be fetched again. */
  readonly onLost: (bytes: number) => void;
  readonly onRetry: (retry: Retry) => void;
}

export interface TransferResult extends Digests {
  readonly size: number;
}

/** The server sends something else than it announced: fetching the rest is no use. */
export class ContentMismatchError extends Error {
  override readonly name = "WrongContent";
}

/** The file is on the disk, whole by its size, when this returns; its digests are for the caller to judge. What arrived stays on any failure. */
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
  // Compressed on the way, a part of a file could not be told from a part of its compressed form.
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

/** Makes the file ready for what the answer holds; gives the size of the whole, where it is known. */
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
  if (file.bytes > 0) await file.restart(); // the server knows no parts
  const length = Number(answer.headers.get("content-length") ?? Number.NaN);
  if (size !== undefined || Number.isNaN(length)) return size;
  if ((await freeBytes(dirname(partial))) < length) {
    throw new InferyardError("DISK_FULL", `there is no room for ${what} (${length} bytes) in ${dirname(partial)}`, {
      remedy: diskFullRemedy,
    });
  }
  return length;
}

/** A file under way and the digests of what it holds. */
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
    const { partial, size = Infinity, signal, onFound } = request;
    const there = (await statOrUndefined(partial))?.size ?? 0;
    if (there > size) await withDiskErrors(partial, () => rm(partial, { force: true }));
    const handle = await withDiskErrors(partial, () => open(partial, "a", 0o644));
    const file = new PartialFile(request, handle);
    const now = new Date();
    await withDiskErrors(partial, () => handle.utimes(now, now)); // tells a `prune` beside it that somebody goes on with it
    if (there > 0 && there <= size) {
      try {
        await hashInto(file.#hash, partial, signal);
      } catch (error) {
        await handle.close();
        throw diskError(partial, error);
      }
      file.#bytes = there;
      onFound(there);
    }
    return file;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes since it was opened. */
  get received(): number {
    return this.#received;
  }

  async append(chunk: Uint8Array): Promise<void> {
    const { partial, onArrived } = this.#request;
    for (let written = 0; written < chunk.length;) {
      const rest = chunk.subarray(written);
      const { bytesWritten } = await withDiskErrors(partial, () => this.#handle.write(rest));
      this.#hash.update(rest.subarray(0, bytesWritten));
      written += bytesWritten;
      this.#bytes += bytesWritten;
    }
    this.#received += chunk.length;
    onArrived(chunk.length);
  }

  async restart(): Promise<void> {
    await withDiskErrors(this.#request.partial, () => this.#handle.truncate(0));
    this.#request.onLost(this.#bytes);
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
