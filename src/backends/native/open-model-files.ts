/** The files of a model while it is loaded: read piece by piece where that can be done at once, else whole. */
import { InferyardError, messageOf } from "../../backend.ts";
import { byteSourceOf, type ByteSource } from "../../engine/index.ts";
import { type BlockingFile, openBlocking, openFile } from "../../platform/node/files.ts";

/** Two changes of a file that follow one another more closely may bear the same time. */
const clockTickMs = 100;

export class OpenModelFiles {
  readonly #bytes = new Map<string, ByteSource>();
  readonly #files: BlockingFile[] = [];
  readonly #identityOf = new Map<string, string>();
  #identities: string[] | undefined = [];

  /** The same text only for the same files, in the order in which they were opened. undefined where that cannot be said. */
  get identity(): string | undefined {
    return this.#identities?.join("\n");
  }

  /** The bytes of a file, until `close`. MODEL_NOT_FOUND where there is none. */
  async open(path: string): Promise<ByteSource> {
    const known = this.#bytes.get(path);
    if (known !== undefined) return known;
    try {
      if (openBlocking === undefined) this.#identities = undefined;
      const bytes = openBlocking === undefined ? byteSourceOf(await readWhole(path)) : this.#pieces(openBlocking(path), path);
      this.#bytes.set(path, bytes);
      return bytes;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new InferyardError("MODEL_NOT_FOUND", `there is no file ${path}`, { remedy: "check the path", cause: error });
    }
  }

  /** Whether the path still leads to the file that was opened, as it was then: for what was read of it otherwise. Refused if not. */
  check(path: string): void {
    if (openBlocking === undefined) return;
    const again = openBlocking(path);
    const { identity } = again.stat();
    again.close();
    if (identity !== this.#identityOf.get(path)) throw changed(path);
  }

  close(): void {
    for (const file of this.#files.splice(0)) file.close();
    this.#bytes.clear();
  }

  /** Pieces of one file belong together only as long as nobody writes to it. */
  #pieces(file: BlockingFile, path: string): ByteSource {
    this.#files.push(file);
    const { size, mtimeMs, ctimeMs, identity } = file.stat();
    if (Date.now() - ctimeMs < clockTickMs) this.#identities = undefined;
    this.#identityOf.set(path, identity);
    this.#identities?.push(`${path} ${identity}`);
    return {
      size,
      read(target, position) {
        let problem = "";
        try {
          for (let done = 0; done < target.length;) {
            const bytes = file.read(target, done, target.length - done, position + done);
            if (bytes === 0) throw new Error(`it ends ${target.length - done} bytes too early`);
            done += bytes;
          }
        } catch (error) {
          problem = messageOf(error);
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
        throw new InferyardError("MODEL_INVALID", `${path} ends ${size - done} bytes too early`, { remedy: "load it again" });
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
