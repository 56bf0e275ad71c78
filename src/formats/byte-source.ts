/**
 * Synchronous random access to the bytes of a file, in memory or on disk. Positions are byte offsets from the start of the file.
 */
export interface ByteSource {
  /** Bytes of the file. */
  readonly size: number;
  /** Fills the whole target with the bytes from `position` on. Throws Error if the file ends before, or was replaced since it was opened. */
  read(target: Uint8Array, position: number): void;
}

/** A ByteSource over bytes that are in memory. The bytes are not copied. Reading past their end throws Error. */
export function toByteSource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read(target, position) {
      const part = bytes.subarray(position, position + target.length);
      if (part.length < target.length) throw new Error(`it ends ${target.length - part.length} bytes too early`);
      target.set(part);
    },
  };
}

/** A range of bytes that stays in its file until it is read. */
export interface ByteRange {
  /** Bytes of the range. */
  readonly length: number;
  /** Fills a target of `length` bytes. Throws as `ByteSource.read` does. */
  read(target: Uint8Array): void;
}

/**
 * The range of `length` bytes of `file` that begins at byte `position`. Nothing is read or checked yet; a range past the end of
 * the file throws Error when it is read.
 */
export function byteRange(file: ByteSource, position: number, length: number): ByteRange {
  return { length, read: (target) => file.read(target, position) };
}
