/** Which calls ask the same. */
import { createHash } from "node:crypto";

/**
 * What a call asks beside its model, as plain data: the name of the work, then everything that decides the answer. Lists of numbers may be
 * typed.
 */
export type CallKey = readonly [work: string, ...parts: unknown[]];

/** The same for the same parts, in the same order; texts cannot be read out of it. */
export function hashParts(parts: readonly unknown[]): string {
  return digestOf(JSON.stringify(parts, withoutViews));
}

/** JSON has neither numbers of 64 bits nor typed lists, and would write each number of those as text. */
function withoutViews(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (ArrayBuffer.isView(value)) return digestOf(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return value;
}

function digestOf(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("base64");
}
