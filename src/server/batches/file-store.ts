/** Files that clients upload and batches write: the content under `ID`, and what is known of it under `ID.json`. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../platform/node/atomic-write.ts";
import { InferyardError } from "../../contract/errors.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import { listNames, withDiskErrors } from "../../storage/disk.ts";

/** What is known of a file. Times are in seconds since 1970. */
export interface ClientFile {
  readonly id: string;
  /** Name that the client gave it. */
  readonly filename: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly created: number;
  /** When it is removed. Absent: when a client deletes it. */
  readonly expires?: number;
  /** The client whose file it is; "" if the server has no keys. */
  readonly owner: string;
}

/** Files of one client, at most: as many as a page of a list has. */
const maxFiles = 10_000;

const idPattern = /^file-[0-9a-f]{24}$/;

/** Seconds since 1970. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** The files of a server. Their sizes together are bounded. */
export class FileStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** What was read of files, by id: it never changes. */
  readonly #known = new Map<string, ClientFile>();

  /** `folder`: created with the first file. `maxBytes`: of all files together. */
  constructor(folder: string, maxBytes: number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Stores a file. Throws LIMIT_EXCEEDED if all files together would be too large, or the client's too many, and DISK_FULL. */
  async add(content: Uint8Array, facts: Omit<ClientFile, "id" | "bytes" | "created">): Promise<ClientFile> {
    await this.#refuseTooMuch(content.byteLength, facts.owner);
    return await this.#register(content.byteLength, facts, (path) =>
      withDiskErrors(path, () => writeAtomically(path, (file) => file.writeFile(content))),
    );
  }

  /** Takes over a file that the server has written, which is moved; `id`: what it is called. It counts, but is not refused. */
  async adopt(path: string, id: string, facts: Omit<ClientFile, "id" | "bytes" | "created">): Promise<ClientFile> {
    const known = await this.#read(id);
    if (known !== undefined) return known; // by a process that was killed before it recorded so
    const { size } = await withDiskErrors(path, () => stat(path));
    return await this.#register(size, facts, (target) => withDiskErrors(target, () => rename(path, target)), id);
  }

  /** A new id. */
  newId(): string {
    return `file-${randomBytes(12).toString("hex")}`;
  }

  /** The file. Throws NOT_FOUND if there is none with this id that belongs to the owner. */
  async get(id: string, owner: string): Promise<ClientFile> {
    const file = idPattern.test(id) ? await this.#read(id) : undefined;
    if (file !== undefined && file.owner === owner) return file;
    throw new InferyardError("NOT_FOUND", `there is no file ${JSON.stringify(id.slice(0, 80))} here`, {
      remedy: "GET /v1/files lists those there are",
    });
  }

  /** All files of an owner, the oldest first. */
  async list(owner: string): Promise<readonly ClientFile[]> {
    return (await this.#all()).filter((file) => file.owner === owner);
  }

  /** Path of the content. */
  path(id: string): string {
    return join(this.#folder, id);
  }

  /** Removes a file. Throws as `get`. */
  async remove(id: string, owner: string): Promise<void> {
    await this.get(id, owner);
    await this.#remove(id);
  }

  async #refuseTooMuch(added: number, owner: string): Promise<void> {
    const all = await this.#all();
    if (all.filter((file) => file.owner === owner).length >= maxFiles) {
      throw new InferyardError("LIMIT_EXCEEDED", `${maxFiles} files are stored, which is the limit`, {
        remedy: "delete files that are not needed any more",
        data: { limit: maxFiles },
      });
    }
    const held = all.reduce((sum, { bytes }) => sum + bytes, 0);
    if (held + added <= this.#maxBytes) return;
    throw new InferyardError("LIMIT_EXCEEDED", `files of ${held} bytes are stored, and the limit is ${this.#maxBytes}`, {
      remedy: "delete files that are not needed any more, or raise maxFilesBytes",
      data: { limit: this.#maxBytes },
    });
  }

  async #register(
    bytes: number,
    facts: Omit<ClientFile, "id" | "bytes" | "created">,
    write: (path: string) => Promise<unknown>,
    id: string = this.newId(),
  ): Promise<ClientFile> {
    await withDiskErrors(this.#folder, () => mkdir(this.#folder, { recursive: true, mode: 0o700 }));
    await write(this.path(id));
    const file: ClientFile = { ...facts, id, bytes, created: nowSeconds() };
    await writeFileAtomically(`${this.path(id)}.json`, JSON.stringify(file));
    return file;
  }

  /** All files that have not expired; those that have are removed. */
  async #all(): Promise<readonly ClientFile[]> {
    const names = (await listNames(this.#folder)).filter((name) => name.endsWith(".json"));
    const ids = names.map((name) => name.slice(0, -".json".length));
    const files = await Promise.all(ids.map(async (id) => this.#unlessExpired(this.#known.get(id)) ?? (await this.#read(id))));
    if (this.#known.size > ids.length) this.#known.clear(); // others have removed some
    return files
      .filter((file) => file !== undefined)
      .sort((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1));
  }

  async #read(id: string): Promise<ClientFile | undefined> {
    try {
      const file = JSON.parse(await readFile(`${this.path(id)}.json`, "utf8")) as ClientFile;
      this.#known.set(id, file);
      if (this.#unlessExpired(file) !== undefined) return file;
      await this.#remove(id);
    } catch {
      // removed, or cut off by a crash
    }
    return undefined;
  }

  #unlessExpired(file: ClientFile | undefined): ClientFile | undefined {
    return file?.expires !== undefined && file.expires <= nowSeconds() ? undefined : file;
  }

  async #remove(id: string): Promise<void> {
    this.#known.delete(id);
    await withDiskErrors(this.#folder, async () => {
      await rm(`${this.path(id)}.json`, { force: true });
      await rm(this.path(id), { force: true });
    });
  }
}
