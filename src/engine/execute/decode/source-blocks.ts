/** The keys and values of sources in engine memory: a decoder reads those of its sequence with every token, and they stay the same. */
import { at, required } from "../../../contract/checked.ts";
import type { TensorMap } from "../../../contract/tensor.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import { layOutStates } from "../../plan/state-layout.ts";
import type { SourceStates } from "./decoder-engine.ts";
import { sourceMaskName } from "./decoder-inputs.ts";

/** The names among the inputs of a source that blocks hold: its keys and values. The mask is an operand of small sums, which compute a batch at once. */
export function heldSources(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== sourceMaskName);
}

/** The part of the memory that is used. */
type BlockMemory = Pick<EngineMemory, "allocate" | "memory" | "release">;

/** Blocks of sources, each written when a program first reads the source. */
export class SourceBlocks {
  readonly #memory: BlockMemory;
  readonly #blocks = new Map<SourceStates, { readonly start: number; readonly bytes: number }>();

  constructor(memory: BlockMemory) {
    this.#memory = memory;
  }

  /**
   * The byte offset of the block with the float32 tensors of these names, laid out by `layOutStates`. The names are the same for all sources of a model. Throws
   * OUT_OF_MEMORY if the memory cannot grow.
   */
  hold(source: SourceStates, names: readonly string[]): number {
    const known = this.#blocks.get(source);
    if (known !== undefined) return known.start;
    const tensors = names.map((name) => required(source.tensors[name], name));
    const { offsets, bytes } = layOutStates(tensors.map(({ dataType, shape }) => ({ dataType, shape })));
    const start = this.#memory.allocate(bytes);
    this.#blocks.set(source, { start, bytes });
    for (const [index, tensor] of tensors.entries()) {
      const data = elements(tensor);
      new Float32Array(this.#memory.memory.buffer as ArrayBuffer, start + at(offsets, index), data.length).set(data);
    }
    return start;
  }

  /** Frees the block of a source, if it has one. */
  release(source: SourceStates): void {
    const block = this.#blocks.get(source);
    if (block === undefined) return;
    this.#blocks.delete(source);
    this.#memory.release(block.start, block.bytes);
  }
}

function elements({ data }: TensorMap[string]): Float32Array {
  if (data instanceof Float32Array) return data;
  throw new TypeError("keys and values of a source are float32");
}
