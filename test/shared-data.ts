/** Test data outside the repository, read in place. A test that needs a folder which is not there is skipped, and says so. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const sharedData: string = fileURLToPath(new URL("../../shared/data/", import.meta.url));

export const hasSharedData: boolean = existsSync(sharedData);

/** For `describe.skipIf(...)`: the name says why. */
export function needsData(name: string): [skip: boolean, name: string] {
  return hasSharedData ? [false, name] : [true, `${name} (skipped: ../shared/data is not beside this checkout)`];
}

export interface Golden {
  readonly text: string;
  readonly inputIds: number[];
  readonly normalized: Float32Array;
}

/** The known answers of all-MiniLM-L6-v2, made by sentence-transformers 3.4.1. */
export function miniLmGoldens(): Golden[] {
  const { items } = JSON.parse(readFileSync(`${sharedData}all-MiniLM-L6-v2/goldens.json`, "utf8")) as {
    items: { text: string; input_ids: number[]; embedding_normalized: string }[];
  };
  return items.map(({ text, input_ids: inputIds, embedding_normalized: encoded }) => ({
    text,
    inputIds,
    normalized: floats(encoded),
  }));
}

function floats(encoded: string): Float32Array {
  const bytes = Buffer.from(encoded, "base64");
  return Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
}

export function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, index) => sum + value * y[index]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

export function worst(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return a.reduce((largest, value, index) => Math.max(largest, Math.abs(value - b[index]!)), 0);
}
