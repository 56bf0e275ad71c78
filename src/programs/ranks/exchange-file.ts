/**
 * The memory that ranks share: a file in memory without a name, so that the system frees it with the last process that has it open, however the processes end. It is read and written by system calls,
 * which need no library; each copies at the speed of memory.
 */
import { closeSync, constants, ftruncateSync, openSync, readSync, statSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferyardError } from "../../contract/errors.ts";

/** Bytes that one rank writes at a time. */
const defaultChunkBytes = 1 << 20;
/** open(2): a file without a name in this folder. Node.js has no constant for it. */
const O_TMPFILE = 0o20200000;

/** A file with two areas of one chunk for each rank, which take turns: while the ranks read the chunks of one area, they may write the other one. */
export class ExchangeFile {
  readonly chunkBytes: number;
  /** Where another process of this user opens the file while this process has it open. */
  readonly path: string;
  readonly #ranks: number;
  #descriptor: number | undefined;

  private constructor(
    descriptor: number,
    path: string,
    { ranks, chunkBytes }: { readonly ranks: number; readonly chunkBytes: number },
  ) {
    this.#descriptor = descriptor;
    this.path = path;
    this.#ranks = ranks;
    this.chunkBytes = chunkBytes;
  }

  /** Creates the memory. Throws NOT_BUILT on systems other than Linux. */
  static create(ranks: number, chunkBytes: number = defaultChunkBytes): ExchangeFile {
    if (process.platform !== "linux")
      throw new InferyardError("NOT_BUILT", `ranks share memory through /proc, which ${process.platform} does not have`, {
        remedy: "use one rank, or Linux",
      });
    const descriptor = openNameless();
    ftruncateSync(descriptor, 2 * ranks * chunkBytes);
    return new ExchangeFile(descriptor, `/proc/${process.pid}/fd/${descriptor}`, { ranks, chunkBytes });
  }

  /** Opens the memory of another process of this user. Throws RUN_FAILED if there is none at the path. */
  static open(path: string, ranks: number, chunkBytes: number): ExchangeFile {
    if (!/^\/proc\/\d+\/fd\/\d+$/.test(path) || statSync(path).uid !== process.getuid?.())
      throw new InferyardError("RUN_FAILED", `${path} is no memory of a rank of this user`);
    return new ExchangeFile(openSync(path, "r+"), path, { ranks, chunkBytes });
  }

  /** Writes a chunk of a rank into area 0 or 1. */
  write(area: number, rank: number, chunk: Uint8Array): void {
    const start = this.#start(area, rank);
    for (let done = 0; done < chunk.length;) done += writeSync(this.#open, chunk, done, chunk.length - done, start + done);
  }

  /** Reads the first bytes of a rank's chunk. Throws RUN_FAILED if the file is shorter. */
  read(area: number, rank: number, into: Uint8Array): void {
    const start = this.#start(area, rank);
    for (let done = 0; done < into.length;) {
      const count = readSync(this.#open, into, done, into.length - done, start + done);
      if (count === 0) throw new InferyardError("RUN_FAILED", "the shared memory of the ranks ends too early");
      done += count;
    }
  }

  /** Closes the file. Calling it again does nothing. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  get #open(): number {
    if (this.#descriptor === undefined) throw new InferyardError("DISPOSED", "the shared memory of the ranks was closed");
    return this.#descriptor;
  }

  #start(area: number, rank: number): number {
    return (area * this.#ranks + rank) * this.chunkBytes;
  }
}

/** A file without a name, in memory where the system has a folder for it. */
function openNameless(): number {
  let failure: unknown;
  for (const folder of ["/dev/shm", tmpdir()]) {
    try {
      return openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600);
    } catch (error) {
      failure = error;
    }
    try {
      const path = join(folder, `inferyard-ranks-${crypto.randomUUID()}`);
      const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
      unlinkSync(path);
      return descriptor;
    } catch (error) {
      failure = error;
    }
  }
  throw new InferyardError("OUT_OF_MEMORY", "no folder takes the memory that ranks share", { cause: failure });
}
