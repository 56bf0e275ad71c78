/**
 * Files of compiled code: a header, a description as JSON, and the code. Code of other versions and processors may end the process that runs it, so
 * nothing is used before the header is checked.
 *
 * Layout, little-endian: 0 magic (8 bytes), 8 version (uint32), 12 length of the description (uint32), 16 length of the executable (uint64), 24 key
 * (32 bytes), 56 SHA-256 of everything else in the file (32 bytes), 88 description, executable.
 */
import { type Hash, createHash } from "node:crypto";

/** A kind of files. */
export interface CodeFormat<Description> {
  /** 8 characters with which each file begins. */
  readonly magic: string;
  readonly version: number;
  /** End of the names of files, without the dot. */
  readonly extension: string;
  /** Returns the description in the JSON value of a file; undefined if it is none. */
  parseDescription(value: unknown): Description | undefined;
}

/** Content of a file. */
export interface StoredCode<Description> {
  /** Hexadecimal SHA-256 of all that the code depends on. */
  readonly key: string;
  readonly description: Description;
  /** The compiled code. */
  readonly executable: Uint8Array;
}

const keyOffset = 24;
const digestOffset = 56;
const headerBytes = 88;
/** Maximum bytes of header and description. */
export const headBytes: number = 1 << 16;

/** The bytes of a file. */
export function encodeCode<Description>(format: CodeFormat<Description>, code: StoredCode<Description>): Uint8Array {
  const { executable } = code;
  return Buffer.concat([encodeHead(format, code, [executable]), executable]);
}

/** The bytes of a file before its executable, which consists of these parts. */
export function encodeHead<Description>(
  { magic, version }: CodeFormat<Description>,
  { key, description }: Pick<StoredCode<Description>, "key" | "description">,
  executable: readonly Uint8Array[],
): Uint8Array {
  const text = Buffer.from(JSON.stringify(description));
  const head = Buffer.alloc(headerBytes + text.length);
  head.write(magic, "latin1");
  head.writeUInt32LE(version, 8);
  head.writeUInt32LE(text.length, 12);
  head.writeBigUInt64LE(BigInt(executable.reduce((sum, { length }) => sum + length, 0)), 16);
  head.write(key, keyOffset, "hex");
  text.copy(head, headerBytes);
  const hash = startDigest(head);
  for (const part of executable) hash.update(part);
  hash.digest().copy(head, digestOffset);
  return head;
}

/** Reads the bytes of a file. Undefined unless they are whole, unchanged, of this format and version, and have this key. */
export function decodeCode<Description>(
  format: CodeFormat<Description>,
  bytes: Uint8Array,
  key: string,
): StoredCode<Description> | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lengths = readLengths(format, view);
  if (lengths === undefined || view.toString("hex", keyOffset, digestOffset) !== key) return undefined;
  if (view.length !== headerBytes + lengths.description + lengths.executable) return undefined;
  if (!view.subarray(digestOffset, headerBytes).equals(computeDigest(view))) return undefined;
  const start = headerBytes + lengths.description;
  const description = parseDescription(format, view.subarray(headerBytes, start));
  if (description === undefined) return undefined;
  // A copy, so that the code has memory of its own.
  return { key, description, executable: Uint8Array.from(view.subarray(start)) };
}

/** The beginning of a file: its description, and where its executable is. */
export interface CodeHead<Description> {
  readonly description: Description;
  /** Bytes before the executable. */
  readonly start: number;
  /** Bytes of the executable. */
  readonly bytes: number;
  /** The hash of what precedes the executable. */
  startDigest(): Hash;
  /** SHA-256 of the file without it. */
  readonly digest: Uint8Array;
}

/** Reads the first `headBytes` bytes of a file of `fileBytes` bytes. Undefined unless it is of this format and version, and has this key and size. The digest is not checked. */
export function readHead<Description>(
  format: CodeFormat<Description>,
  head: Uint8Array,
  { key, fileBytes }: { readonly key: string; readonly fileBytes: number },
): CodeHead<Description> | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length);
  const lengths = readLengths(format, view);
  if (lengths === undefined || view.toString("hex", keyOffset, digestOffset) !== key) return undefined;
  const start = headerBytes + lengths.description;
  if (start + lengths.executable !== fileBytes) return undefined;
  const description = parseDescription(format, view.subarray(headerBytes, start));
  if (description === undefined) return undefined;
  return {
    description,
    start,
    bytes: lengths.executable,
    startDigest: () => startDigest(view.subarray(0, start)),
    digest: view.subarray(digestOffset, headerBytes),
  };
}

/**
 * The description in the first `headBytes` bytes of a file, without a check of its digest. Undefined if they are no header of this version with a
 * description.
 */
export function readDescription<Description>(format: CodeFormat<Description>, head: Uint8Array): Description | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length);
  const lengths = readLengths(format, view);
  return lengths === undefined
    ? undefined
    : parseDescription(format, view.subarray(headerBytes, headerBytes + lengths.description));
}

function parseDescription<Description>(format: CodeFormat<Description>, bytes: Buffer): Description | undefined {
  try {
    return format.parseDescription(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined; // no JSON
  }
}

function readLengths(
  { magic, version }: Pick<CodeFormat<unknown>, "magic" | "version">,
  view: Buffer,
): { readonly description: number; readonly executable: number } | undefined {
  if (view.length < headerBytes || view.toString("latin1", 0, 8) !== magic || view.readUInt32LE(8) !== version) return undefined;
  const description = view.readUInt32LE(12);
  const executable = Number(view.readBigUInt64LE(16));
  return headerBytes + description > headBytes || executable === 0 ? undefined : { description, executable };
}

/** SHA-256 of a file without its digest. */
function computeDigest(bytes: Buffer): Buffer {
  return startDigest(bytes).digest();
}

function startDigest(bytes: Buffer): Hash {
  return createHash("sha256").update(bytes.subarray(0, digestOffset)).update(bytes.subarray(headerBytes));
}
