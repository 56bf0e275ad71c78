/**
 * Mutations of pictures and sounds: PNG chunks (their checksums are made right, else every change ends at them), RIFF chunks (WebP, WAVE), Ogg pages (their
 * checksums too); of other formats numbers in the header, where sizes are.
 */
import { crc32 } from "node:zlib";
import { extremeIntegers } from "../random.ts";
import type { Mutation, Mutator } from "../target.ts";
import { mutateBytes } from "./mutate-bytes.ts";

/** A piece of a file that has a name and is written with its size or checksum made right. */
interface Chunk {
  readonly head: Buffer;
  readonly body: Buffer;
}

interface Container {
  readonly prefix: Buffer;
  readonly chunks: readonly Chunk[];
  write(chunk: Chunk, keepsSize: boolean): Buffer;
}

/** Bytes from the start of a file in which formats without chunks have their sizes. */
const headerBytes = 96;

/**
 * A mutator that changes one of `seeds` 7 times of 8, and an input that was found otherwise: decoders in native code and WebAssembly are not counted, so that
 * most inputs that reach new code are refused before a decoder reads them.
 */
export function createMediaMutator(seeds: readonly Uint8Array[]): Mutator {
  return (input, mutation) => mutateMedia(mutation.random.oneIn(8) ? input : mutation.random.pick(seeds), mutation);
}

export function mutateMedia(input: Uint8Array, mutation: Mutation): Uint8Array {
  const { random } = mutation;
  const bytes = Buffer.from(input);
  const container = readPng(bytes) ?? readRiff(bytes) ?? readOgg(bytes);
  if (container === undefined || container.chunks.length === 0 || random.oneIn(6)) return mutateHeader(bytes, mutation);
  const chunks = [...container.chunks];
  for (let count = 1 + random.below(2); count > 0; count -= 1) changeChunk(chunks, mutation);
  return Buffer.concat([container.prefix, ...chunks.map((chunk) => container.write(chunk, random.oneIn(16)))]);
}

function changeChunk(chunks: Chunk[], mutation: Mutation): void {
  const { random } = mutation;
  const index = random.below(chunks.length);
  const chunk = chunks[index];
  if (chunk === undefined) return;
  const kind = random.below(8);
  if (kind === 0) chunks.splice(index, 1);
  else if (kind === 1) chunks.splice(random.below(chunks.length), 0, chunk);
  else if (kind === 2) chunks[index] = { ...chunk, head: Buffer.from(mutateNumber(chunk.head, mutation)) };
  else if (kind === 3) chunks[index] = { ...chunk, body: chunk.body.subarray(0, random.below(chunk.body.length + 1)) };
  else if (kind === 4) chunks[index] = { ...chunk, body: Buffer.from(mutateBytes(chunk.body, mutation)) };
  else chunks[index] = { ...chunk, body: mutateNumber(chunk.body, mutation) };
}

function mutateHeader(bytes: Buffer, mutation: Mutation): Uint8Array {
  if (mutation.random.oneIn(2)) return mutateBytes(bytes, mutation);
  return Buffer.concat([mutateNumber(bytes.subarray(0, headerBytes), mutation), bytes.subarray(headerBytes)]);
}

/** Writes a number of 1, 2 or 4 bytes, in either order of bytes, at a place of the same alignment. */
function mutateNumber(bytes: Buffer, { random }: Mutation): Buffer {
  const changed = Buffer.from(bytes);
  const width = random.pick([1, 2, 4]);
  if (changed.length < width) return changed;
  const at = random.below(Math.floor(changed.length / width)) * width;
  const value = Number(BigInt.asUintN(8 * width, BigInt(random.pick(extremeIntegers))));
  if (random.oneIn(2)) changed.writeUIntLE(value, at, width);
  else changed.writeUIntBE(value, at, width);
  return changed;
}

/** PNG (ISO/IEC 15948): size, type, data and CRC-32 of type and data. */
function readPng(bytes: Buffer): Container | undefined {
  if (bytes.toString("latin1", 1, 4) !== "PNG") return undefined;
  const chunks: Chunk[] = [];
  for (let at = 8; at + 12 <= bytes.length;) {
    const size = bytes.readUInt32BE(at);
    chunks.push({ head: bytes.subarray(at, at + 8), body: bytes.subarray(at + 8, at + 8 + size) });
    at += 12 + size;
  }
  const write = ({ head, body }: Chunk, keepsSize: boolean): Buffer => {
    const named = Buffer.concat([head.subarray(4), body]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(keepsSize ? head.readUInt32BE(0) : body.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([size, named, sum]);
  };
  return { prefix: bytes.subarray(0, 8), chunks, write };
}

/** RIFF: name, size, data, padded to an even size. */
function readRiff(bytes: Buffer): Container | undefined {
  if (bytes.toString("latin1", 0, 4) !== "RIFF") return undefined;
  const chunks: Chunk[] = [];
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = bytes.readUInt32LE(at + 4);
    chunks.push({ head: bytes.subarray(at, at + 8), body: bytes.subarray(at + 8, at + 8 + size) });
    at += 8 + size + (size % 2);
  }
  const write = ({ head, body }: Chunk, keepsSize: boolean): Buffer => {
    const own = Buffer.from(head);
    if (!keepsSize) own.writeUInt32LE(body.length, 4);
    return Buffer.concat([own, body, Buffer.alloc(body.length % 2)]);
  };
  return { prefix: bytes.subarray(0, 12), chunks, write };
}

/** Ogg (RFC 3533): pages, whose header of 27 bytes ends with the sizes of their segments. */
function readOgg(bytes: Buffer): Container | undefined {
  if (bytes.toString("latin1", 0, 4) !== "OggS") return undefined;
  const chunks: Chunk[] = [];
  for (let at = 0; at + 27 <= bytes.length && bytes.toString("latin1", at, at + 4) === "OggS";) {
    const head = bytes.subarray(at, at + 27 + (bytes[at + 26] ?? 0));
    const size = head.subarray(27).reduce((sum, segment) => sum + segment, 0);
    chunks.push({ head, body: bytes.subarray(at + head.length, at + head.length + size) });
    at += head.length + size;
  }
  const write = ({ head, body }: Chunk): Buffer => {
    const page = Buffer.concat([head, body]);
    page.writeUInt32LE(0, 22);
    page.writeUInt32LE(oggChecksum(page), 22);
    return page;
  };
  return { prefix: Buffer.alloc(0), chunks, write };
}

/** CRC-32 with the polynomial 0x04c11db7, most significant bit first, from 0. */
function oggChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000_0000 ? (sum << 1) ^ 0x04c1_1db7 : sum << 1;
  }
  return sum >>> 0;
}
