/** Keys of calls, for coalescing concurrent calls and for the result cache. */
import { createHash } from "node:crypto";

/**
 * Identifies a call of a model, as plain data: the name of the operation, then everything that determines the result. Calls with equal keys share their result.
 * Lists of numbers may be typed arrays.
 */
export type CallKey = readonly [work: string, ...parts: unknown[]];

/** SHA-256 of the parts as base64. Equal parts in the same order have equal hashes; texts cannot be recovered from it. */
export function hashParts(parts: readonly unknown[]): string {
  return computeDigest(JSON.stringify(parts, withoutViews));
}

/** JSON has no 64-bit integers and would write typed arrays as objects: integers become text, and typed arrays the hash of their bytes. */
function withoutViews(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (ArrayBuffer.isView(value)) return computeDigest(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return value;
}

function computeDigest(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("base64");
}
