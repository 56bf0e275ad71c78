/** Decodes results on a thread of its own: writing the numbers of vectors would take half of a coordinator's time. */
import type { Worker } from "node:worker_threads";
import { InferyardError, type SerializedError, getMessage } from "../../contract/errors.ts";
import { moduleArguments } from "../../hosts/node-arguments.ts";
import { startThread } from "../../platform/node/start-thread.ts";
import { type EncodedResult, decodeResult } from "./chunk.ts";

/** Size in bytes below which a result is decoded by the caller's thread. */
const minThreadBytes = 64 * 1024;

/** What the thread replies: a result, or the error. */
export type DecodeReply =
  | { readonly result: EncodedResult; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: SerializedError };

interface Waiting {
  readonly bytes: Buffer;
  readonly resolve: (result: EncodedResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A thread that is started with the first large result. If it fails, the caller's thread decodes. */
export class ResultDecoder {
  readonly #waiting: Waiting[] = [];
  #worker: Worker | undefined;
  #isAlone = false;
  readonly #program: URL;

  constructor(program: URL = new URL("./decode-thread.ts", import.meta.url)) {
    this.#program = program;
  }

  /** Throws as `decodeResult`. */
  async decode(bytes: Buffer): Promise<EncodedResult> {
    if (this.#isAlone || bytes.length < minThreadBytes) return decodeResult(bytes);
    const worker = (this.#worker ??= this.#start());
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, resolve, reject });
      worker.ref();
      worker.postMessage(bytes);
    });
  }

  async close(): Promise<void> {
    this.#isAlone = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startThread(this.#program, { execArgv: moduleArguments(process.execArgv) });
    worker.on("message", ({ result, error }: DecodeReply) => {
      const call = this.#waiting.shift();
      if (this.#waiting.length === 0) worker.unref();
      if (result === undefined) call?.reject(InferyardError.fromJSON(error));
      else
        call?.resolve({
          ...result,
          output: Buffer.from(result.output.buffer, result.output.byteOffset, result.output.byteLength),
        });
    });
    const onEnd = (): void => {
      this.#isAlone = true;
      for (const { bytes, resolve, reject } of this.#waiting.splice(0)) this.decode(bytes).then(resolve, reject);
    };
    worker.once("error", onEnd).once("exit", onEnd);
    return worker;
  }
}

/** The reply for an error. */
export function toReply(error: unknown): DecodeReply {
  const known = error instanceof InferyardError ? error : new InferyardError("RUN_FAILED", getMessage(error), { cause: error });
  return { error: known.toJSON() };
}
