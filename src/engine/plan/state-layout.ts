/**
 * The layout of states: tensors that outlive a run, such as a decoder's keys and values. They are stored one after the other in a block outside of the
 * arena. The layout depends on their types only, so that a block can be passed between executables with states of the same types.
 */
import { elementCount } from "../../contract/tensor.ts";
import { readPaddingBytes } from "../codegen/wasm/index.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { storageBytes } from "../lower/movement.ts";
import { bufferAlignment } from "./arena-layout.ts";

/** Offsets of states in one block of memory. A state is a tensor that outlives a run, such as cached keys and values. */
export interface StateLayout {
  /** Bytes from the block's start, in the order of the types. */
  readonly offsets: readonly number[];
  /** Size of the block in bytes. */
  readonly bytes: number;
}

/** Lays out states of these types, each aligned to 64 bytes and followed by the padding that kernels may read. */
export function layOutStates(types: readonly TensorType[]): StateLayout {
  let bytes = 0;
  const offsets = types.map(({ dataType, shape }) => {
    const start = bytes;
    const size = elementCount(shape) * storageBytes(dataType) + readPaddingBytes;
    bytes += Math.ceil(size / bufferAlignment) * bufferAlignment;
    return start;
  });
  return { offsets, bytes };
}
