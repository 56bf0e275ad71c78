/** Lowers operations on constants that stay quantized in memory. */
import { at, required } from "../../checked.ts";
import { elementCount } from "../../tensor.ts";
import {
  activationRowBytes,
  blockLayout,
  blockMatmul,
  gatherRows,
  packBlocks,
  packedBlockBytes,
  quantizeActivationBytes,
  quantizeActivations,
  unpackBlocks,
} from "../codegen/wasm/index.ts";
import { blockKernelId } from "../../kernels/kernel-ids.ts";
import type { NodeOf } from "../ir/graph.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import { type LoweredNode, type Operand, type PackedWeights, singleCall, tensorOperand } from "./lowered-node.ts";

/** Elements of k that share the scale of quantized activations. */
const activationGroup = 32;

/** The quantized form of a constant matrix [k, n], if kernels can multiply it as it lies. */
export function multipliableBlocks(source: Literal | undefined): QuantizedBlocks | undefined {
  const blocks = source?.storage?.blocks;
  if (blocks === undefined || blocks.transposed !== undefined || blocks.columns % activationGroup !== 0) return undefined;
  return blocks;
}

/** The packed weights of a matrix [k, n]. Tied embeddings and output layers share them. */
function packedBlocks(source: Literal, { format, type, rows: n, columns: k }: QuantizedBlocks): PackedWeights {
  return {
    source,
    layout: `blocks ${type} ${k}x${n}`,
    bytes: packedBlockBytes(blockLayout(format), k, n),
    packStored: (target) => {
      const stored = required(source.storage?.blocks, "the blocks of quantized weights");
      packBlocks(target, { format, k, n, bytes: stored.read() });
    },
    unpack: (packed) => unpackBlocks(packed, { format, k, n }),
  };
}

/** Lowers a linear layer with quantized weights: quantizes the activations to 16 bits, or to 8 for ternary weights, then multiplies. */
export function lowerBlockLinear(
  { operation, inputs, outputs }: NodeOf<"linear">,
  source: Literal,
  blocks: QuantizedBlocks,
): LoweredNode {
  const [x, , ...added] = inputs;
  const { rows: n, columns: k, format, type } = blocks;
  const m = elementCount(required(x, "the input of a linear layer").type.shape.slice(0, -1));
  const { bias, activation, residual } = operation;
  const layout = blockLayout(format);
  const quantize =
    layout.depth === 4
      ? quantizeActivationBytes({ rows: m, columns: k, elements: layout.superElements })
      : quantizeActivations({ rows: m, columns: k });
  const activations: Operand = { kind: "temporary", index: 0 };
  return {
    calls: [
      { kernel: quantize, operands: [tensorOperand(x), activations] },
      {
        id: blockKernelId(type),
        kernel: blockMatmul({ m, n, k, format, bias, activation, residual }),
        operands: [
          activations,
          { kind: "packed", weights: packedBlocks(source, blocks) },
          ...added.map((value) => tensorOperand(value)),
          tensorOperand(outputs[0]),
        ],
      },
    ],
    temporaries: [m * activationRowBytes(layout, k)],
  };
}

/** Lowers a gather of rows from a quantized table. Undefined if the table is not quantized. */
export function lowerBlockGather({ operation, inputs, outputs }: NodeOf<"gather">): LoweredNode | undefined {
  const [data, indices] = inputs;
  const source = data?.constant?.storage?.blocks?.transposed;
  const blocks = multipliableBlocks(source);
  const indexType = indices?.type.dataType;
  if (source === undefined || blocks === undefined || operation.axis !== 0) return undefined;
  if (indexType !== "int64" && indexType !== "int32") return undefined;
  const count = elementCount(required(indices, "the indices of a gather").type.shape);
  const { rows: n, columns: k, format } = blocks;
  if (at(data?.type.shape ?? [], 0) !== n) return undefined; // reshaped
  const weights: Operand = { kind: "packed", weights: packedBlocks(source, blocks) };
  return singleCall(gatherRows({ n, k, count, format, indexType }), weights, tensorOperand(indices), tensorOperand(outputs[0]));
}
