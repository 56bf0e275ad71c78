/** Constants that kernels read without packing. */
import { elementCount } from "../../contract/tensor.ts";
import { elementTypes } from "../ir/element-types.ts";
import type { Literal } from "../ir/literal.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import { storageBytes } from "../lower/movement.ts";

/** Describes a constant that is stored as it is, its elements in row-major order, for kernels that need no other layout. */
export function unpacked(source: Literal): PackedWeights {
  const { dataType, shape } = source;
  const View = elementTypes[dataType].array as Float64ArrayConstructor;
  return {
    source,
    layout: "plain",
    bytes: elementCount(shape) * storageBytes(dataType),
    unpack: (packed) => new View(packed.slice().buffer),
  };
}
