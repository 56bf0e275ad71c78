/** The bytes of a file, read where they are wanted. */
export interface ByteSource {
  readonly size: number;
  /** Fills the whole target, from `position` on. Error where the file ends before, or is no longer the one it was. */
  read(target: Uint8Array, position: number): void;
}

/** A file that was read whole. */
export function byteSourceOf(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read(target, position) {
      const part = bytes.subarray(position, position + target.length);
      if (part.length < target.length) throw new Error(`it ends ${target.length - part.length} bytes too early`);
      target.set(part);
    },
  };
}

/** A run of bytes of a file that stays there. */
export interface ByteRange {
  readonly length: number;
  /** Fills a target of `length` bytes. */
  read(target: Uint8Array): void;
}

export function byteRange(file: ByteSource, position: number, length: number): ByteRange {
  return { length, read: (target) => file.read(target, position) };
}
