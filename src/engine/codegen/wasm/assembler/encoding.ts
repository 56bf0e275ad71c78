/** Encodes integers, names and vectors of the WebAssembly binary format (WebAssembly specification, chapter "Binary Format", Values and Conventions). */

export type Bytes = readonly number[];

/** Instruction bytes in nested arrays. */
export type Code = readonly (number | Code)[];

/** Bytes written one after the other into a buffer that grows. Code is written once, since a model has hundreds of kilobytes of it. */
export class ByteWriter {
  #buffer = new Uint8Array(256);
  #length = 0;

  /** The bytes written so far. A view: later writes may change it. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Appends one byte. */
  push(byte: number): void {
    if (this.#length === this.#buffer.length) this.#reserve(1);
    this.#buffer[this.#length] = byte;
    this.#length += 1;
  }

  /** Appends code, depth first. */
  code(code: Code): void {
    for (let index = 0; index < code.length; index += 1) {
      const part = code[index] as number | Code; // unchecked: it runs per instruction
      if (typeof part === "number") this.push(part);
      else this.code(part);
    }
  }

  /** Appends bytes. */
  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Appends bytes preceded by their number. */
  sized(bytes: Uint8Array): void {
    this.code(unsigned(bytes.length));
    this.append(bytes);
  }

  #reserve(count: number): void {
    const wanted = this.#length + count;
    if (wanted <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(wanted, 2 * this.#buffer.length));
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}

/** Encodes an integer from 0 to below 2^53 as unsigned LEB128, WebAssembly's variable-length integers. */
export function unsigned(value: number): Bytes {
  if (value < 128) return [value];
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return bytes;
}

/** Encodes a signed 32-bit integer as LEB128. */
export function signed32(value: number): Bytes {
  const bytes: number[] = [];
  let rest = value | 0;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest & 127);
  return bytes;
}

/** Encodes a signed 64-bit integer as LEB128. */
export function signed64(value: bigint): Bytes {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7n) {
    const low = Number(rest & 127n);
    if (rest >> 6n === 0n || rest >> 6n === -1n) return [...bytes, low];
    bytes.push(low | 128);
  }
}

/** Encodes a name as UTF-8, preceded by its length in bytes. */
export function encodeName(value: string): Bytes {
  const bytes = [...new TextEncoder().encode(value)];
  return [...unsigned(bytes.length), ...bytes];
}

/** Encodes a list of the binary format (which the specification calls a vector): the number of items, then the items. */
export function vector(items: readonly Bytes[]): Bytes {
  return [...unsigned(items.length), ...items.flat()];
}

/** The four bytes of a float32, little-endian. */
export function float32Bytes(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return [...bytes];
}

/** The eight bytes of a float64, little-endian. */
export function float64Bytes(value: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return [...bytes];
}

/** The four bytes of a 32-bit integer, little-endian. */
export function int32Bytes(value: number): Bytes {
  return [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255];
}
