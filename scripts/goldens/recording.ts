/** The one form of sound the goldens have: WAV, 16 bits, one channel. */

/** Samples from -1 to 1. Throws Error where the file is of another form. */
export function samplesOf(file: Buffer): Float32Array {
  const format = chunkOf(file, "fmt ");
  if (format.readUInt16LE(0) !== 1 || format.readUInt16LE(2) !== 1 || format.readUInt16LE(14) !== 16)
    throw new Error("the recording is not 16-bit PCM of one channel");
  const data = chunkOf(file, "data");
  return Float32Array.from({ length: data.length / 2 }, (_sample, index) => data.readInt16LE(2 * index) / 32_768);
}

function chunkOf(file: Buffer, name: string): Buffer {
  for (let at = 12; at + 8 <= file.length; at += 8 + file.readUInt32LE(at + 4))
    if (file.toString("latin1", at, at + 4) === name) return file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4));
  throw new Error(`the recording has no "${name.trim()}"`);
}
