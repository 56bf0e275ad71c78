/** The files of a model while it is loaded. They are read in parts where blocking file access exists, else as a whole. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { toByteSource, type ByteSource } from "../../engine/index.ts";
import { type BlockingFile, openBlocking, openFile } from "../../platform/node/files.ts";

/** Milliseconds within which two changes of a file may get the same modification time. */
const clockTickMs = 100;

/** The open files of one model. */
export class OpenModelFiles {
  readonly #bytes = new Map<string, ByteSource>();
  readonly #files: BlockingFile[] = [];
  readonly #identityOf = new Map<string, string>();
  #identified: (readonly [path: string, identity: string])[] | undefined = [];
  readonly #held: ReadonlyMap<string, BlockingFile>;

  /** `held`: files that are open already, which `close` closes as well. Default: none. */
  constructor(held: ReadonlyMap<string, BlockingFile> = new Map()) {
    this.#held = held;
    this.#files.push(...held.values());
  }

  /** Equal strings mean the same files, unchanged and opened in the same order. undefined when that cannot be guaranteed. */
  get identity(): string | undefined {
    return this.identified?.map(([path, identity]) => `${path} ${identity}`).join("\n");
  }

  /** The files in the order in which they were opened, with their identities: see `BlockingFile.stat`. undefined when a file may have been changed meanwhile. */
  get identified(): readonly (readonly [path: string, identity: string])[] | undefined {
    return this.#identified;
  }

  /** Opens a file; its bytes can be read until `close`. Throws MODEL_NOT_FOUND when it does not exist. */
  async open(path: string): Promise<ByteSource> {
    const known = this.#bytes.get(path);
    if (known !== undefined) return known;
    try {
      if (openBlocking === undefined) this.#identified = undefined;
      const bytes = openBlocking === undefined ? toByteSource(await readWhole(path)) : this.#openPieces(openBlocking, path);
      this.#bytes.set(path, bytes);
      return bytes;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new InferyardError("MODEL_NOT_FOUND", `there is no file ${path}`, { remedy: "check the path", cause: error });
    }
  }

  /** Throws MODEL_INVALID unless the path still leads to the unchanged file that was opened. For readers that open the path themselves. */
  check(path: string): void {
    if (openBlocking === undefined) return;
    const again = openBlocking(path);
    const { identity } = again.stat();
    again.close();
    if (identity !== this.#identityOf.get(path)) throw changed(path);
  }

  /** Closes all files. */
  close(): void {
    for (const file of this.#files.splice(0)) file.close();
    this.#bytes.clear();
  }

  #openPieces(open: (path: string) => BlockingFile, path: string): ByteSource {
    const held = this.#held.get(path);
    if (held !== undefined) return this.#pieces(held, path);
    const file = open(path);
    this.#files.push(file);
    return this.#pieces(file, path);
  }

  /** Reads parts of a file. Every read checks that the file is unchanged, so that all parts belong together. */
  #pieces(file: BlockingFile, path: string): ByteSource {
    const { size, mtimeMs, ctimeMs, identity } = file.stat();
    if (Date.now() - ctimeMs < clockTickMs) this.#identified = undefined;
    this.#identityOf.set(path, identity);
    this.#identified?.push([path, identity]);
    return {
      size,
      read(target, position) {
        let problem = "";
        try {
          for (let done = 0; done < target.length;) {
            const bytes = file.read(target, done, target.length - done, position + done);
            if (bytes === 0) {
              problem = `it ends ${target.length - done} bytes early`;
              break;
            }
            done += bytes;
          }
        } catch (error) {
          problem = getMessage(error);
        }
        const now = file.stat();
        if (problem === "" && now.size === size && now.mtimeMs === mtimeMs) return;
        throw changed(path, problem);
      },
    };
  }
}

async function readWhole(path: string): Promise<Uint8Array> {
  const handle = await openFile(path);
  try {
    const { size } = await handle.stat();
    const bytes = new Uint8Array(size);
    for (let done = 0; done < size;) {
      const { bytesRead } = await handle.read(bytes, done, size - done, done);
      if (bytesRead === 0)
        throw new InferyardError("MODEL_INVALID", `${path} ends ${size - done} bytes early`, { remedy: "load it again" });
      done += bytesRead;
    }
    return bytes;
  } finally {
    await handle.close();
  }
}

function changed(path: string, problem: string = ""): InferyardError {
  return new InferyardError("MODEL_INVALID", `${path} changed while it was loaded${problem && `: ${problem}`}`, {
    remedy: "load it again",
  });
}
