/** A file that grows by appending and is cut back to what is recorded after a crash. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { withDiskErrors } from "../../storage/disk.ts";

/** A file of results while a job runs. It is created with its first bytes. */
export class GrowingFile {
  readonly path: string;
  #bytes: number;
  #file: FileHandle | undefined;

  private constructor(path: string, bytes: number, file: FileHandle | undefined) {
    this.path = path;
    this.#bytes = bytes;
    this.#file = file;
  }

  /** Opens the file and cuts off what was written after `bytes`. With 0 it is removed. Throws DISK_FULL or OUTPUT_FAILED. */
  static async open(path: string, bytes: number): Promise<GrowingFile> {
    return await withDiskErrors(path, async () => {
      if (bytes === 0) {
        await rm(path, { force: true });
        return new GrowingFile(path, 0, undefined);
      }
      const file = await open(path, "r+");
      try {
        const { size } = await file.stat();
        if (size < bytes) throw new Error(`it has ${size} bytes, and ${bytes} were recorded`);
        await file.truncate(bytes);
        return new GrowingFile(path, bytes, file);
      } catch (error) {
        await file.close();
        throw error;
      }
    });
  }

  /** Length in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends. Throws DISK_FULL or OUTPUT_FAILED; `bytes` then is what was there before. */
  async append(content: Uint8Array): Promise<void> {
    if (content.length === 0) return;
    await withDiskErrors(this.path, async () => {
      const file = (this.#file ??= await open(this.path, "w"));
      for (let written = 0; written < content.length;) {
        const { bytesWritten } = await file.write(content, written, content.length - written, this.#bytes + written);
        written += bytesWritten;
      }
    });
    this.#bytes += content.length;
  }

  /** Makes an empty file, where nothing was appended. */
  async create(): Promise<void> {
    await withDiskErrors(this.path, async () => {
      this.#file ??= await open(this.path, "w");
    });
  }

  /** Flushes to the disk. */
  async flush(): Promise<void> {
    await withDiskErrors(this.path, async () => this.#file?.datasync());
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
