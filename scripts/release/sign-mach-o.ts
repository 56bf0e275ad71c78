/**
 * Ad-hoc code signatures of Mach-O files, written without macOS: Apple silicon starts no program whose pages have no hashes. The structures are those of
 * cs_blobs.h in Apple's xnu; all their numbers are big-endian.
 */
import { createHash } from "node:crypto";

const magic64 = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;
const pageSize = 4096;
const hashSize = 32;
/** CSMAGIC_EMBEDDED_SIGNATURE and CSMAGIC_CODEDIRECTORY. */
const superBlobMagic = 0xfade0cc0;
const codeDirectoryMagic = 0xfade0c02;
/** Version of the code directory that has the bounds of the executable segment. */
const codeDirectoryVersion = 0x20400;
const codeDirectoryHeader = 88;
const superBlobHeader = 20;
const adHoc = 0x2;
/** CS_EXECSEG_MAIN_BINARY. */
const mainBinary = 0x1;

/** Where a 64-bit little-endian Mach-O file has what a signature depends on; offsets in bytes. */
interface MachLayout {
  /** Offset of the command LC_CODE_SIGNATURE. */
  readonly command: number;
  /** Offset and size of the signature. */
  readonly signature: { readonly offset: number; readonly size: number };
  /** Offset of the command of the segment __LINKEDIT. */
  readonly linkEdit: number;
  /** Bounds of the segment __TEXT in the file. */
  readonly text: { readonly offset: bigint; readonly size: bigint };
}

/** Returns the file with an ad-hoc signature in place of the one that it has, if it has one. Throws for a file without room for the command of a signature. */
export function signMachO(unsigned: Buffer, identifier: string): Buffer {
  const file = addCommand(unsigned);
  const { command, signature, linkEdit, text } = readLayout(file);
  const limit = signature.offset;
  const name = Buffer.from(`${identifier}\0`);
  const pages = Math.ceil(limit / pageSize);
  const directorySize = codeDirectoryHeader + name.length + pages * hashSize;
  const size = align(superBlobHeader + directorySize, 16);
  const signed = Buffer.concat([file.subarray(0, limit), Buffer.alloc(size)]);

  // The commands are hashed with the first page, and so must be right before.
  signed.writeUInt32LE(size, command + 12);
  const linkEditSize = BigInt(limit + size) - signed.readBigUInt64LE(linkEdit + 40);
  signed.writeBigUInt64LE(BigInt(align(Number(linkEditSize), 0x4000)), linkEdit + 32);
  signed.writeBigUInt64LE(linkEditSize, linkEdit + 48);

  const blob = signed.subarray(limit);
  [superBlobMagic, superBlobHeader + directorySize, 1, 0, superBlobHeader].forEach((value, index) =>
    blob.writeUInt32BE(value, 4 * index),
  );
  const directory = blob.subarray(superBlobHeader);
  const hashes = codeDirectoryHeader + name.length;
  const fields = [codeDirectoryMagic, directorySize, codeDirectoryVersion, adHoc, hashes, codeDirectoryHeader, 0, pages, limit];
  fields.forEach((value, index) => directory.writeUInt32BE(value, 4 * index));
  directory.set([hashSize, 2, 0, Math.log2(pageSize)], 36); // hash type 2: SHA-256
  directory.writeBigUInt64BE(text.offset, 64);
  directory.writeBigUInt64BE(text.size, 72);
  directory.writeBigUInt64BE(BigInt(mainBinary), 80);
  name.copy(directory, codeDirectoryHeader);
  for (let page = 0; page < pages; page++) hashPage(signed, page, limit).copy(directory, hashes + page * hashSize);
  return signed;
}

/** Checks the hashes of all pages, and that the signature ends the file. Returns the problem, or undefined if there is none. */
export function checkSignature(file: Buffer): string | undefined {
  const { signature, linkEdit } = readLayout(file);
  if (signature.offset + signature.size !== file.length) return "the signature does not end the file";
  if (file.readBigUInt64LE(linkEdit + 40) + file.readBigUInt64LE(linkEdit + 48) !== BigInt(file.length))
    return "the segment __LINKEDIT does not end with the file";
  const blob = file.subarray(signature.offset);
  if (blob.readUInt32BE(0) !== superBlobMagic) return "the signature is no embedded signature";
  const directory = blob.subarray(blob.readUInt32BE(16));
  if (directory.readUInt32BE(0) !== codeDirectoryMagic) return "the signature does not begin with a code directory";
  const [hashes, pages, limit] = [16, 28, 32].map((offset) => directory.readUInt32BE(offset)) as [number, number, number];
  if (limit !== signature.offset) return `${limit} bytes are signed, not ${signature.offset}`;
  for (let page = 0; page < pages; page++) {
    const stated = directory.subarray(hashes + page * hashSize, hashes + (page + 1) * hashSize);
    if (!hashPage(file, page, limit).equals(stated)) return `page ${page} has another hash`;
  }
  return pages === Math.ceil(limit / pageSize) ? undefined : `${pages} pages are signed`;
}

function hashPage(file: Buffer, page: number, limit: number): Buffer {
  return createHash("sha256")
    .update(file.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit)))
    .digest();
}

const align = (size: number, unit: number): number => Math.ceil(size / unit) * unit;

/** Returns the file with a command LC_CODE_SIGNATURE that names the end of the file: Node.js removes the command when it adds assets. */
function addCommand(file: Buffer): Buffer {
  const [commands, size] = [file.readUInt32LE(16), file.readUInt32LE(20)];
  const { command, firstSection } = walkCommands(file);
  if (command !== 0) return file;
  const end = 32 + size;
  if (end + 16 > firstSection) throw new Error("no room for the command of a signature");
  const longer = Buffer.concat([file, Buffer.alloc(align(file.length, 16) - file.length)]);
  longer.writeUInt32LE(commands + 1, 16);
  longer.writeUInt32LE(size + 16, 20);
  [signatureCommand, 16, longer.length, 0].forEach((value, index) => longer.writeUInt32LE(value, end + 4 * index));
  return longer;
}

/** Offsets of the commands that matter, 0 for what is not there, and of the first section's content. */
function walkCommands(file: Buffer): Record<"command" | "linkEdit" | "text" | "firstSection", number> {
  if (file.readUInt32LE(0) !== magic64) throw new Error("not a 64-bit Mach-O file");
  let [command, linkEdit, text, firstSection] = [0, 0, 0, file.length];
  let offset = 32;
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const kind = file.readUInt32LE(offset);
    const name = file.toString("latin1", offset + 8, offset + 24).replace(/\0+$/, "");
    if (kind === signatureCommand) command = offset;
    if (kind === segmentCommand && name === "__LINKEDIT") linkEdit = offset;
    if (kind === segmentCommand && name === "__TEXT") text = offset;
    if (kind === segmentCommand && name === "__TEXT" && file.readUInt32LE(offset + 64) > 0)
      firstSection = file.readUInt32LE(offset + 72 + 48);
    offset += file.readUInt32LE(offset + 4);
  }
  return { command, linkEdit, text, firstSection };
}

function readLayout(file: Buffer): MachLayout {
  const { command, linkEdit, text } = walkCommands(file);
  if (command === 0 || linkEdit === 0 || text === 0) throw new Error("no signature, __LINKEDIT or __TEXT");
  const signature = { offset: file.readUInt32LE(command + 8), size: file.readUInt32LE(command + 12) };
  return {
    command,
    linkEdit,
    signature,
    text: { offset: file.readBigUInt64LE(text + 40), size: file.readBigUInt64LE(text + 48) },
  };
}
