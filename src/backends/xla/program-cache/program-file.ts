/**
 * Files of compiled programs: a header of ours, a description as JSON, and the bytes that a plugin serialized. Plugins load executables of other versions
 * and processors without complaint and end the process when they run, so no byte reaches a plugin before the header is checked.
 *
 * Layout, little-endian: 0 magic (8 bytes), 8 version (uint32), 12 length of the description (uint32), 16 length of the executable (uint64), 24 key
 * (32 bytes), 56 SHA-256 of everything else in the file (32 bytes), 88 description, executable.
 */
import { createHash } from "node:crypto";

/** Description of a program, for lists. */
export interface ProgramDescription {
  /** Path of the plugin that compiled it. */
  readonly plugin: string;
  /** Version of the plugin's PJRT API, such as "0.106". */
  readonly apiVersion: string;
  /** Type of the device, such as "cpu". */
  readonly device: string;
  /** Kind of the device, such as "NVIDIA H200". */
  readonly deviceKind: string;
  /** Path of the weights or graph of the model for which it was compiled. Another model of the same graph uses it as well. */
  readonly model: string;
  /** Types of its inputs, such as "input_ids int64[1,16]". */
  readonly inputs: readonly string[];
  /** Time at which it was compiled, ISO 8601 in UTC. */
  readonly compiled: string;
  /** Duration of the compilation in milliseconds. */
  readonly milliseconds: number;
}

/** Content of a program's file. */
export interface StoredProgram {
  /** Hexadecimal SHA-256 of all that the executable depends on; see `programKey`. */
  readonly key: string;
  readonly description: ProgramDescription;
  /** The bytes that the plugin serialized. */
  readonly executable: Uint8Array;
}

const magic = Buffer.from("IYXLAEXE", "latin1");
const version = 1;
const keyOffset = 24;
const digestOffset = 56;
const headerBytes = 88;
/** Maximum bytes of header and description. */
export const headBytes: number = 1 << 16;
/** Maximum number of inputs in a description, and of characters of each: models of strangers have names of any length. */
const [maxInputs, maxInputLength] = [64, 200];

/** The bytes of a file. */
export function encodeProgram({ key, description, executable }: StoredProgram): Uint8Array {
  const inputs = description.inputs.slice(0, maxInputs).map((input) => input.slice(0, maxInputLength));
  const text = Buffer.from(JSON.stringify({ ...description, inputs }));
  const bytes = Buffer.alloc(headerBytes + text.length + executable.length);
  magic.copy(bytes);
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(text.length, 12);
  bytes.writeBigUInt64LE(BigInt(executable.length), 16);
  bytes.write(key, keyOffset, "hex");
  text.copy(bytes, headerBytes);
  bytes.set(executable, headerBytes + text.length);
  computeDigest(bytes).copy(bytes, digestOffset);
  return bytes;
}

/** Reads the bytes of a file. Undefined unless they are whole, unchanged, of this version and of the program with this key. */
export function decodeProgram(bytes: Uint8Array, key: string): StoredProgram | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lengths = readLengths(view);
  if (lengths === undefined || view.toString("hex", keyOffset, digestOffset) !== key) return undefined;
  if (view.length !== headerBytes + lengths.description + lengths.executable) return undefined;
  if (!view.subarray(digestOffset, headerBytes).equals(computeDigest(view))) return undefined;
  const start = headerBytes + lengths.description;
  const description = parseDescription(view.subarray(headerBytes, start));
  if (description === undefined) return undefined;
  // A copy, so that a plugin gets memory of its own.
  return { key, description, executable: Uint8Array.from(view.subarray(start)) };
}

/**
 * The description in the first `headBytes` bytes of a file, without a check of its digest. Undefined if they are no header of this version with a
 * description.
 */
export function readDescription(head: Uint8Array): ProgramDescription | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.length);
  const lengths = readLengths(view);
  return lengths === undefined ? undefined : parseDescription(view.subarray(headerBytes, headerBytes + lengths.description));
}

function parseDescription(bytes: Buffer): ProgramDescription | undefined {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Partial<Record<keyof ProgramDescription, unknown>> | null;
    const texts = ["plugin", "apiVersion", "device", "deviceKind", "model", "compiled"] as const;
    const isWhole =
      texts.every((name) => typeof value?.[name] === "string") &&
      typeof value?.milliseconds === "number" &&
      Array.isArray(value.inputs) &&
      value.inputs.every((input) => typeof input === "string");
    return isWhole ? (value as ProgramDescription) : undefined;
  } catch {
    return undefined; // no JSON
  }
}

function readLengths(view: Buffer): { readonly description: number; readonly executable: number } | undefined {
  if (view.length < headerBytes || !view.subarray(0, magic.length).equals(magic) || view.readUInt32LE(8) !== version)
    return undefined;
  const description = view.readUInt32LE(12);
  const executable = Number(view.readBigUInt64LE(16));
  return headerBytes + description > headBytes || executable === 0 ? undefined : { description, executable };
}

/** SHA-256 of a file without its digest. */
function computeDigest(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes.subarray(0, digestOffset)).update(bytes.subarray(headerBytes)).digest();
}
