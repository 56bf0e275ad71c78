/** UTF-8 text of unknown length, in memory that goes back to the operating system as soon as it is freed. */

/** Text of at most this many bytes is kept in blocks of the size of its appended parts. */
const maxBlockBytes = 4 * 2 ** 20;
/**
 * Longer text has one buffer of more than 32 MiB. glibc maps such a buffer by itself, so that its pages go back when it is freed, and pages that
 * were not written take no memory. Smaller ones come from its heap once a buffer of their size has been freed, and fragment it (mallopt(3),
 * M_MMAP_THRESHOLD: the threshold adjusts itself up to DEFAULT_MMAP_THRESHOLD_MAX).
 */
const minBufferBytes = 33 * 2 ** 20;

/** Bytes that text is appended to. */
export class GrowingBytes {
  readonly #blocks: Buffer[] = [];
  /** Undefined while the text is short. */
  #buffer: Buffer<ArrayBuffer> | undefined;
  #length = 0;

  /** Appends the text in UTF-8. */
  append(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.#buffer === undefined && this.#length + length <= maxBlockBytes) {
      this.#blocks.push(Buffer.from(text));
    } else {
      this.#reserve(this.#length + length).write(text, this.#length);
    }
    this.#length += length;
  }

  /** All bytes, in a buffer of their own. Nothing can be appended afterwards. */
  all(): Uint8Array<ArrayBuffer> {
    if (this.#buffer !== undefined) return this.#buffer.subarray(0, this.#length);
    return this.#copyBlocks(new Uint8Array(this.#length));
  }

  /** The buffer, with at least this many bytes. */
  #reserve(bytes: number): Buffer {
    const before = this.#buffer;
    if (before !== undefined && bytes <= before.length) return before;
    const buffer = Buffer.allocUnsafeSlow(Math.max(minBufferBytes, 2 * bytes));
    if (before === undefined) this.#copyBlocks(buffer);
    else buffer.set(before.subarray(0, this.#length));
    this.#blocks.length = 0;
    this.#buffer = buffer;
    return buffer;
  }

  #copyBlocks<Bytes extends Uint8Array>(bytes: Bytes): Bytes {
    let offset = 0;
    for (const block of this.#blocks) {
      bytes.set(block, offset);
      offset += block.length;
    }
    return bytes;
  }
}
