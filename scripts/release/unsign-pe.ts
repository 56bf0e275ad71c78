/** Removes signatures of PE files: that of Node.js does not hold for a program that contains more. */

/**
 * Returns the file without its Authenticode signature, which the fifth data directory names (PE format, "The Attribute Certificate Table"). A file without one is
 * returned as it is. Throws for a file whose signature is not its end.
 */
export function unsignPe(file: Buffer): Buffer {
  const header = file.readUInt32LE(0x3c);
  if (file.toString("latin1", header, header + 4) !== "PE\0\0") throw new Error("not a PE file");
  const optional = header + 24;
  const is64 = file.readUInt16LE(optional) === 0x20b;
  const directory = optional + (is64 ? 112 : 96) + 4 * 8;
  const [offset, size] = [file.readUInt32LE(directory), file.readUInt32LE(directory + 4)];
  if (size === 0) return file;
  if (offset + size !== file.length) throw new Error("the signature does not end the file");
  const unsigned = Buffer.from(file.subarray(0, offset));
  unsigned.fill(0, directory, directory + 8);
  unsigned.writeUInt32LE(0, optional + 64); // the checksum, which nobody checks for a program
  return unsigned;
}
