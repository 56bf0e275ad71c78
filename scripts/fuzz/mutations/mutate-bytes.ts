/** Mutations of bytes without structure, as AFL's havoc stage has them. */
import { extremeIntegers } from "../random.ts";
import type { Mutation } from "../target.ts";

export function mutateBytes(input: Uint8Array, mutation: Mutation): Uint8Array {
  const { random } = mutation;
  let bytes = input;
  for (let count = 1 + random.below(4); count > 0; count -= 1) bytes = mutatedOnce(bytes, mutation);
  return bytes;
}

function mutatedOnce(bytes: Uint8Array, { random, other, dictionary }: Mutation): Uint8Array {
  const from = random.below(bytes.length + 1);
  const length = 1 + random.below(random.oneIn(4) ? 256 : 8);
  const changed = bytes.slice();
  const kind = random.below(9);
  if (bytes.length === 0 || kind === 0) return inserted(bytes, from, part(other, random.below(other.length), length));
  if (kind === 1) changed[from] = random.below(256);
  else if (kind === 2) changed[from] = (changed[from] ?? 0) ^ (1 << random.below(8));
  else if (kind === 3) return inserted(removed(bytes, from, length), 0, new Uint8Array(0));
  else if (kind === 4) return inserted(bytes, from, part(bytes, random.below(bytes.length), length));
  else if (kind === 5) return bytes.slice(0, from);
  else if (kind === 6) changed.set(number(random.pick(extremeIntegers), random.pick([1, 2, 4, 8]), bytes.length - from), from);
  else if (kind === 7 && dictionary.length > 0) return inserted(bytes, from, Buffer.from(random.pick(dictionary)));
  else changed.copyWithin(from, random.below(bytes.length), from + length);
  return changed;
}

export function inserted(bytes: Uint8Array, at: number, more: Uint8Array): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)]);
}

export function removed(bytes: Uint8Array, at: number, length: number): Uint8Array {
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
}

function part(bytes: Uint8Array, from: number, length: number): Uint8Array {
  return bytes.subarray(from, from + length);
}

/** Little-endian, of at most `room` bytes. */
function number(value: number, width: number, room: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return bytes.subarray(0, Math.min(width, room));
}
