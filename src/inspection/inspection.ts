/** What an inspection tells of any file: plain data that survives JSON. */
import type { Backend } from "../backend.ts";

export interface InspectOptions {
  /** The file as the user wrote it, for messages. Default: its path. */
  readonly shown?: string;
  /** What config.json or the manifest calls the model. Default: what config.json beside the file says. */
  readonly architecture?: string;
  /** Tokens the memory of a language model is estimated for. Default: what the model was made for, at most 4096. */
  readonly context?: number;
  /** Backends that get a verdict. Default: those a runtime has. */
  readonly backends?: readonly Backend[];
}

/** One tensor, without its elements. */
export interface InspectedTensor {
  readonly name: string;
  /** In the file format's own spelling. */
  readonly type: string;
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** Tensors of one type, taken together. */
export interface TypeCount {
  readonly type: string;
  readonly tensors: number;
  readonly parameters: number;
  readonly bytes: number;
}

/** Whether a backend would run the file. */
export interface BackendVerdict {
  readonly backend: string;
  /**
   * expected: everything the file says of itself is something the backend was seen to run; only loading proves it.
   * no: the file says something that the backend refuses.
   * unknown: the file does not say enough.
   */
  readonly verdict: "expected" | "no" | "unknown";
  /** A sentence without a full stop. */
  readonly reason: string;
  /** The operators that decide it, as "domain:name". */
  readonly operators?: readonly string[];
}

/** A text of the file, of which at most the beginning is kept. */
export interface InspectedText {
  readonly value: string;
  /** UTF-8 bytes of the whole. */
  readonly bytes: number;
}

const keptCharacters = 4096;

export function inspectedText(text: string): InspectedText {
  return { value: text.slice(0, keptCharacters), bytes: Buffer.byteLength(text) };
}

/** Per type, the one with the most bytes first. `elements` of a tensor are its parameters. */
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

export function sumOf<Item>(items: readonly Item[], number: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + number(item), 0);
}
