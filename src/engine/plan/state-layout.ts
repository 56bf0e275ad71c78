/**
 * State: tensors that outlive a run, as a decoder's keys and values. They lie in a block outside of the arena, one after the other, and every
 * program over states of the same shapes lays them out alike: so a block goes from one program to another as it is.
 */
import { elementCount } from "../../tensor.ts";
import { readPaddingBytes } from "../codegen/wasm/index.ts";
import type { TensorType } from "../ir/graph.ts";
import { storageBytes } from "../lower/movement.ts";

export interface StateLayout {
  /** Bytes from the block's start, in the order of the types. */
  readonly offsets: readonly number[];
  readonly bytes: number;
}

const alignment = 64;

export function layOutStates(types: readonly TensorType[]): StateLayout {
  let bytes = 0;
  const offsets = types.map(({ dataType, shape }) => {
    const start = bytes;
    const size = elementCount(shape) * storageBytes(dataType) + readPaddingBytes;
    bytes += Math.ceil(size / alignment) * alignment;
    return start;
  });
  return { offsets, bytes };
}
