/** Mutations of ZIP archives: a field of a header, or bytes anywhere. */
import { extremeIntegers } from "../random.ts";
import type { Mutation } from "../target.ts";
import { mutateBytes } from "./mutate-bytes.ts";

/** Signatures of headers, with the bytes of the fields behind each; the end, without which nothing is read, is changed more seldom. */
const headers: readonly (readonly [signature: string, bytes: number])[] = [
  ["PK\u0001\u0002", 42],
  ["PK\u0001\u0002", 42],
  ["PK\u0001\u0002", 42],
  ["PK\u0003\u0004", 26],
  ["PK\u0003\u0004", 26],
  ["PK\u0005\u0006", 18],
];

/** Changes one field of one header. */
export function mutateZip(input: Uint8Array, mutation: Mutation): Uint8Array {
  const { random } = mutation;
  const [signature, bytes] = random.pick(headers);
  const changed = Buffer.from(input);
  const positions: number[] = [];
  for (let at = changed.indexOf(signature, 0, "latin1"); at >= 0; at = changed.indexOf(signature, at + 1, "latin1"))
    positions.push(at);
  const at = positions.length === 0 ? -1 : random.pick(positions) + signature.length + 2 * random.below(bytes / 2);
  if (at < 0 || at + 2 > changed.length || random.oneIn(8)) return mutateBytes(input, mutation);
  const value = random.oneIn(2) ? random.pick(extremeIntegers) : changed.readUInt16LE(at) + random.below(9) - 4;
  changed.writeUInt16LE(value & 0xffff, at);
  return changed;
}
