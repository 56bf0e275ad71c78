/** The parts that inspections of all formats share. Inspections are plain data that can be converted to JSON. */
import type { Backend } from "../contract/backend.ts";

/** Options of an inspection. */
export interface InspectOptions {
  /** The path as the user wrote it, for messages. Default: the path. */
  readonly displayName?: string;
  /** Architecture of the model. Default: the one in config.json beside the file. */
  readonly architecture?: string;
  /** Context length in tokens for which the memory of a language model is estimated. Default: the length it was trained for, at most 4096. */
  readonly context?: number;
  /** Backends for which verdicts are given. Default: the standard backends of a runtime. */
  readonly backends?: readonly Backend[];
}

/** A tensor of an inspected file, without its elements. */
export interface InspectedTensor {
  readonly name: string;
  /** Element type in the spelling of the file format. */
  readonly type: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** Number and size of all tensors of one element type in an inspected file. */
export interface TypeCount {
  readonly type: string;
  /** Number of tensors. */
  readonly tensors: number;
  /** Number of elements. */
  readonly parameters: number;
  readonly bytes: number;
}

/** A prediction whether a backend can run an inspected file, made without loading it. */
export interface BackendVerdict {
  readonly backend: string;
  /**
   * expected: the backend supports everything that the header of the file states. Only loading proves it.
   * no: the header states something that the backend does not support.
   * unknown: the header does not suffice to decide.
   */
  readonly verdict: "expected" | "no" | "unknown";
  /** The reason, as a sentence without a full stop. */
  readonly reason: string;
  /** The operators that decided, as "domain:name". */
  readonly operators?: readonly string[];
}

/** A string of an inspected file, which may be truncated. */
export interface InspectedText {
  /** The first 4096 characters. */
  readonly value: string;
  /** UTF-8 bytes of the whole string. */
  readonly bytes: number;
}

const keptCharacters = 4096;

/** The string as an inspection shows it: at most its first 4096 characters. */
export function inspectedText(text: string): InspectedText {
  return { value: text.slice(0, keptCharacters), bytes: Buffer.byteLength(text) };
}

/** Groups tensors by element type; the type with the most bytes comes first. */
export function countTypes(tensors: readonly (InspectedTensor & { readonly elements: number })[]): TypeCount[] {
  const counts = new Map<string, TypeCount>();
  for (const { type, elements, bytes } of tensors) {
    const before = counts.get(type) ?? { type, tensors: 0, parameters: 0, bytes: 0 };
    counts.set(type, {
      type,
      tensors: before.tensors + 1,
      parameters: before.parameters + elements,
      bytes: before.bytes + bytes,
    });
  }
  return [...counts.values()].sort((a, b) => b.bytes - a.bytes || b.parameters - a.parameters);
}

/** The sum of `number(item)` over all items; 0 for an empty list. */
export function computeSum<Item>(items: readonly Item[], number: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + number(item), 0);
}
