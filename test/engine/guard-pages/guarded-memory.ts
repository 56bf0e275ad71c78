/** Memory between pages that nobody may read or write: an access of one byte outside of a buffer ends the process (SIGSEGV). Linux only. */
import koffi from "koffi";

const pageBytes = 4096;
/** Unreadable bytes before and after each region. Accesses farther away may reach another region. */
const guardBytes = 64 * pageBytes;
/** Pages of the regions of one buffer: powers of two up to this one. */
const maxRegionPages = 2048;
const [none, readWrite, privateAnonymousUnreserved] = [0, 3, 0x4022];
/** What memory holds that belongs to no buffer, and outputs before they are written: as float32 a NaN, which nobody fails to notice. */
const filling = 0xff;

/** A buffer that ends, or begins, at an unreadable page. */
export interface GuardedBuffer {
  /** Bytes from the beginning of the memory. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** The readable bytes around it. */
  readonly region: Uint8Array;
}

/** Regions for some buffers at a time. */
export class GuardedMemory {
  /** The whole memory, for those who call kernels with offsets. Reading it between regions ends the process. */
  readonly buffer: ArrayBuffer;
  /** By buffer and by the power of two of its pages: where its region begins. */
  readonly #regions: readonly (readonly number[])[];
  readonly #filling = new Uint8Array(maxRegionPages * pageBytes).fill(filling);

  /** `buffers`: how many there can be at the same time. */
  constructor(buffers: number) {
    const library = koffi.load("libc.so.6");
    const mmap = library.func("void *mmap(void *address, size_t bytes, int protection, int flags, int file, int64 offset)");
    const mprotect = library.func("int mprotect(void *address, size_t bytes, int protection)");
    let end = guardBytes;
    this.#regions = Array.from({ length: buffers }, () =>
      Array.from({ length: Math.log2(maxRegionPages) + 1 }, (_, power) => {
        const start = end;
        end += 2 ** power * pageBytes + guardBytes;
        return start;
      }),
    );
    const memory: unknown = mmap(null, end, none, privateAnonymousUnreserved, -1, 0);
    const address = koffi.address(memory);
    for (const regions of this.#regions)
      for (const [power, start] of regions.entries())
        if (mprotect(address + BigInt(start), 2 ** power * pageBytes, readWrite) !== 0) throw new Error("mprotect failed");
    this.buffer = koffi.view(memory, end);
  }

  grow(): never {
    throw new Error("this memory does not grow");
  }

  /** Makes a buffer of the smallest region that holds it. `at`: whether an unreadable page follows its last byte or precedes its first one. Everything is filled. */
  place(index: number, byteLength: number, at: "end" | "start"): GuardedBuffer {
    const power = Math.max(0, Math.ceil(Math.log2(byteLength / pageBytes)));
    const start = this.#regions[index]?.[power];
    if (start === undefined) throw new RangeError(`no region holds buffer ${index} of ${byteLength} bytes`);
    const regionBytes = 2 ** power * pageBytes;
    const offset = at === "end" ? start + regionBytes - byteLength : start;
    const region = new Uint8Array(this.buffer, start, regionBytes).fill(filling);
    return { offset, bytes: new Uint8Array(this.buffer, offset, byteLength), region };
  }

  /** Whether the readable bytes around a buffer are as `place` left them. */
  isUntouched({ bytes, region }: GuardedBuffer): boolean {
    const before = bytes.byteOffset - region.byteOffset;
    return this.isFilling(region.subarray(0, before)) && this.isFilling(region.subarray(before + bytes.length));
  }

  /** Whether all bytes are those of memory that nobody has written. */
  isFilling(bytes: Uint8Array): boolean {
    return Buffer.compare(bytes, this.#filling.subarray(0, bytes.length)) === 0;
  }
}
