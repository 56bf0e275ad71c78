/** Encodes integers, names and vectors of the WebAssembly binary format (WebAssembly specification, chapter "Binary Format", Values and Conventions). */

export type Bytes = readonly number[];

/** Encodes an integer from 0 to below 2^53 as unsigned LEB128, WebAssembly's variable-length integers. */
export function unsigned(value: number): Bytes {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

/** Encodes a signed 32-bit integer as LEB128. */
export function signed32(value: number): Bytes {
  const bytes: number[] = [];
  for (let rest = value | 0; ; rest >>= 7) {
    const low = rest & 127;
    if (rest >> 6 === 0 || rest >> 6 === -1) return [...bytes, low];
    bytes.push(low | 128);
  }
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
export function text(value: string): Bytes {
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
