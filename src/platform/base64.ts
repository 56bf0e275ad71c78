/** Base64 without Node.js's Buffer: the same in every surrounding. */

/** Throws Error where the text is no base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Little-endian 32-bit floats; bytes beyond the last whole one are left out. */
export function float32FromBytes(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_value, index) => view.getFloat32(4 * index, true));
}
