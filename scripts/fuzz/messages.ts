/** What a fuzzing process and its supervisor tell each other: messages of `process.send`, and a file with the input that runs now. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { FuzzOptions, Progress } from "./fuzzer.ts";
import type { Failure } from "./oracle.ts";

export interface ChildRequest extends FuzzOptions {
  /** Path of the file with the input that runs now. */
  readonly current: string;
}

export type ChildMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "failed"; readonly failure: Failure; /** Base64. */ readonly input: string }
  | { readonly kind: "done" };

/** Exit status of a process in which the fuzzer itself failed, not an input. */
export const ownFailure = 70;

const headerBytes = 8;

/** Two numbers of 32 bits (how many inputs have begun, bytes of this one), then the input. One system call each time. */
export class CurrentInput {
  readonly #file: number;
  #count = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w");
  }

  write(input: Uint8Array): void {
    const bytes = Buffer.allocUnsafe(headerBytes + input.length);
    bytes.writeUInt32LE(++this.#count, 0);
    bytes.writeUInt32LE(input.length, 4);
    bytes.set(input, headerBytes);
    writeSync(this.#file, bytes, 0, bytes.length, 0);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export function readCurrent(path: string): { count: number; input: Uint8Array } {
  const bytes = readFileSync(path);
  if (bytes.length < headerBytes) return { count: 0, input: new Uint8Array(0) };
  return { count: bytes.readUInt32LE(0), input: bytes.subarray(headerBytes, headerBytes + bytes.readUInt32LE(4)) };
}
