/** The struct `llama_batch`: tokens of several sequences that are computed together, in memory of JavaScript. */
import type { ForeignFunctions, StructLayout } from "../../libraries/ffi/index.ts";
import { writeField } from "../../libraries/ffi/index.ts";

/** A token of one sequence. */
export interface BatchToken {
  readonly token: number;
  /** Position in its sequence. */
  readonly position: number;
  /** Number of the sequence in the context. */
  readonly slot: number;
  /** Whether the logits for the position after it are read. */
  readonly wantsLogits: boolean;
}

/** Bytes of one token: its id, position, number of sequences, number of its sequence, pointer to that, and flag. */
const bytesPerToken = 4 + 4 + 4 + 4 + 8 + 8;

/** A batch that is refilled for each call. Its memory is not reallocated. */
export class TokenBatch {
  readonly capacity: number;
  readonly #layout: StructLayout;
  readonly #struct: Uint8Array;
  readonly #pointers: BigUint64Array;
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #slots: Int32Array;
  readonly #logits: Int8Array;

  constructor(ffi: ForeignFunctions, layout: StructLayout, capacity: number) {
    const memory = new ArrayBuffer(capacity * bytesPerToken);
    const at = (column: number): number => column * capacity;
    this.capacity = capacity;
    this.#layout = layout;
    this.#pointers = new BigUint64Array(memory, 0, capacity);
    this.#tokens = new Int32Array(memory, at(8), capacity);
    this.#positions = new Int32Array(memory, at(12), capacity);
    const counts = new Int32Array(memory, at(16), capacity).fill(1);
    this.#slots = new Int32Array(memory, at(20), capacity);
    this.#logits = new Int8Array(memory, at(24), capacity);
    const start = ffi.getAddress(memory);
    const getAddress = (view: ArrayBufferView): bigint => start + BigInt(view.byteOffset);
    for (let index = 0; index < capacity; index += 1) this.#pointers[index] = getAddress(this.#slots) + BigInt(4 * index);
    this.#struct = new Uint8Array(layout.size);
    const columns = { token: this.#tokens, pos: this.#positions, n_seq_id: counts, seq_id: this.#pointers, logits: this.#logits };
    for (const [field, column] of Object.entries(columns)) writeField(layout, this.#struct, field, getAddress(column));
  }

  /** The struct with these tokens, at most `capacity`. Valid until the next call. */
  write(tokens: readonly BatchToken[]): Uint8Array {
    for (const [index, { token, position, slot, wantsLogits }] of tokens.entries()) {
      this.#tokens[index] = token;
      this.#positions[index] = position;
      this.#slots[index] = slot;
      this.#logits[index] = wantsLogits ? 1 : 0;
    }
    writeField(this.#layout, this.#struct, "n_tokens", tokens.length);
    return this.#struct;
  }
}
