/** The slots of a model in a llama library: sequences of one context, whose tokens are computed in batches. */
import { setImmediate } from "node:timers/promises";
import type { ModelBase } from "../../contract/backend.ts";
import { at } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { ForeignFunctions } from "../../libraries/ffi/index.ts";
import type { SlotEngine, SlotState, SlotStep } from "../gguf/slotted-language-model.ts";
import type { LibraryContext } from "./llama-context.ts";
import type { LlamaFunctions } from "./llama-functions.ts";
import type { NativeLog } from "./native-log.ts";
import type { BatchToken, TokenBatch } from "./token-batch.ts";

/** Constructor arguments of the slots. */
export interface LibrarySlotParts {
  readonly ffi: ForeignFunctions;
  readonly functions: LlamaFunctions;
  readonly context: LibraryContext;
  readonly batch: TokenBatch;
  readonly log: NativeLog;
  /** Number of logits of each position. */
  readonly vocabulary: number;
  /** Bytes of the weights. */
  readonly weightBytes: number;
  /** Frees the model and the library, after the context. */
  readonly close: () => void;
}

/** A token of a step, at its index among the step's tokens. */
interface PendingToken {
  readonly step: SlotStep<number>;
  readonly index: number;
  /** Position of the step's first token in its sequence. */
  readonly start: number;
  /** Logits of the step. */
  readonly rows: Float32Array;
}

/** The slots of sequences in a context, and the computation on them. */
export class LibrarySlots implements SlotEngine<number> {
  readonly memory: ModelBase["memory"];
  readonly #parts: LibrarySlotParts;
  readonly #context: LibraryContext;

  constructor(parts: LibrarySlotParts) {
    this.#parts = parts;
    this.#context = parts.context;
    this.memory = { bytes: parts.weightBytes, measure: "weights" };
  }

  length(slot: number): number {
    return this.#context.length(slot);
  }

  async reserve(current: number | undefined, tokens: number): Promise<number | undefined> {
    return await this.#context.reserve(current, tokens);
  }

  async give(slot: number): Promise<void> {
    this.#context.give(slot);
  }

  async cut(slot: number, length: number): Promise<void> {
    this.#context.cut(slot, length);
  }

  async copy(from: number, to: number): Promise<void> {
    this.#context.copy(from, to);
  }

  async read(slot: number): Promise<SlotState> {
    return { bytes: this.#context.readState(slot), length: this.#context.length(slot) };
  }

  async write(slot: number, { bytes, length }: SlotState): Promise<void> {
    this.#context.writeState(slot, bytes, length);
  }

  async append(
    steps: readonly SlotStep<number>[],
    signal: AbortSignal | undefined,
    onCall: () => void,
  ): Promise<readonly Float32Array[]> {
    const { batch, vocabulary } = this.#parts;
    const logits = steps.map((step) => new Float32Array(step.logits * vocabulary));
    const all = steps.flatMap((step, position): PendingToken[] => {
      const shared = { step, start: this.#context.length(step.slot), rows: at(logits, position) };
      return step.tokens.map((_, index) => ({ ...shared, index }));
    });
    for (let start = 0; start < all.length; start += batch.capacity) {
      if (start > 0 && signal !== undefined) await setImmediate(); // so that an abort is seen
      throwIfAborted(signal);
      await this.#appendBatch(all.slice(start, start + batch.capacity));
      onCall();
    }
    throwIfAborted(signal);
    return logits;
  }

  async dispose(): Promise<void> {
    this.#context.free();
    this.#parts.close();
  }

  async #appendBatch(part: readonly PendingToken[]): Promise<void> {
    const { ffi, functions, batch, log, vocabulary } = this.#parts;
    const context = this.#context;
    const tokens = part.map(({ step, index, start }): BatchToken => ({
      token: at(step.tokens, index),
      position: start + index,
      slot: step.slot,
      wantsLogits: index >= step.tokens.length - step.logits,
    }));
    log.clear();
    let outcome = await functions.decode(context.address, batch.write(tokens));
    if (outcome === 1) {
      await context.compact(); // releases of 2024 need cells that lie together
      outcome = await functions.decode(context.address, batch.write(tokens));
    }
    if (outcome !== 0) {
      throw new InferyardError(
        outcome === 1 ? "OUT_OF_MEMORY" : "RUN_FAILED",
        `llama_decode returned ${outcome} for ${tokens.length} tokens${log.reason === undefined ? "" : `: ${log.reason}`}`,
      );
    }
    for (const [row, { step, index, start, rows }] of part.entries()) {
      context.setLength(step.slot, start + index + 1);
      const read = index - (step.tokens.length - step.logits);
      if (read < 0) continue;
      const address = functions.logitsAt(context.address, row);
      if (address === 0n)
        throw new InferyardError("RUN_FAILED", `the library has no logits of token ${row} of a batch: ${log.reason ?? ""}`);
      rows.set(new Float32Array(ffi.memoryAt(address, 4 * vocabulary)), read * vocabulary);
    }
  }
}
