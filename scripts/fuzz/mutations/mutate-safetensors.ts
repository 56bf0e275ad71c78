/** Mutations of safetensors files: of the JSON header with its length and data kept in step, or of one of the three alone. */
import { mutateBytes } from "./mutate-bytes.ts";
import { type Json, mutateJson, parsed } from "./mutate-json.ts";
import type { Mutation } from "../target.ts";

export function mutateSafetensors(input: Uint8Array, mutation: Mutation): Uint8Array {
  const { random } = mutation;
  const parts = partsOf(input);
  const header = parts === undefined ? undefined : parsed(parts.header);
  if (parts === undefined || header === undefined) return mutateBytes(input, mutation);
  const other = partsOf(mutation.other);
  const changed = mutateJson(header, { ...mutation, other: (other && parsed(other.header)) ?? null });
  const needed = random.oneIn(3) ? undefined : repaired(changed);
  const text = Buffer.from(JSON.stringify(changed) + " ".repeat(random.below(3)));
  const data = needed === undefined ? parts.data : Buffer.alloc(needed, parts.data.length === 0 ? 0 : parts.data);
  const length = random.oneIn(16) ? text.length + random.below(9) - 4 : text.length;
  return written(text, data, length);
}

const maxData = 8192;

/**
 * Makes the ranges of all tensors fit their types and shapes, in the order of the header: without that nearly every change is refused
 * for the same reason. Gives the bytes of all; undefined where they are too many or a shape is none.
 */
function repaired(header: Json): number | undefined {
  if (typeof header !== "object" || header === null || Array.isArray(header)) return undefined;
  let position = 0;
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__" || typeof entry !== "object" || entry === null || Array.isArray(entry)) continue;
    const { dtype, shape } = entry;
    const bits = Number(/\d+/.exec(String(dtype))?.[0] ?? 8);
    const bytes = Array.isArray(shape)
      ? Math.ceil((shape.reduce<number>((product, size) => product * Number(size), 1) * bits) / 8)
      : 0;
    if (!(bytes >= 0 && position + bytes <= maxData)) return undefined;
    entry["data_offsets"] = [position, position + bytes];
    position += bytes;
  }
  return position;
}

export function written(header: Uint8Array, data: Uint8Array, length: number = header.length): Uint8Array {
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt.asUintN(64, BigInt(length)));
  return Buffer.concat([prefix, header, data]);
}

function partsOf(bytes: Uint8Array): { header: Uint8Array; data: Uint8Array } | undefined {
  if (bytes.length < 8) return undefined;
  const length = Number(Buffer.from(bytes).readBigUInt64LE(0));
  if (length > bytes.length - 8) return undefined;
  return { header: bytes.subarray(8, 8 + length), data: bytes.subarray(8 + length) };
}
