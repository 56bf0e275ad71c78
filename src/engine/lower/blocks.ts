/** Lowers operations on constants that stay quantized in memory. */
import { at, omitUndefined, required } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import {
  activationRowBytes,
  blockLayout,
  blockMatmul,
  type BlockMatmulRequest,
  elementwise,
  gatherBlockRows,
  type Kernel,
  packBlocks,
  packedBlockBytes,
  quantizeActivationBytes,
  quantizeActivations,
  unpackBlocks,
} from "../codegen/wasm/index.ts";
import { hasMachineBlockMatmul } from "../codegen/x64/index.ts";
import { blockKernelId, gatherScalarId } from "../../kernels/kernel-ids.ts";
import { gatherScalar, multiplyScalar } from "../../kernels/scalar-product.ts";
import { applyEpilogue } from "../interpret/fused.ts";
import type { NodeOf } from "../ir/graph.ts";
import { type QuantizedBlocks, transposedValues } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";
import {
  type BlockKernel,
  toFloats,
  type HostKernel,
  getIndexType,
  type LoweredNode,
  type LoweringContext,
  type Operand,
  type PackedWeights,
  singleCall,
  tensorOperand,
} from "./lowered-node.ts";

/** Elements of k that share the scale of quantized activations. */
const activationGroup = 32;

/** The quantized form of a constant matrix [k, n], if kernels can multiply it without unpacking. */
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

/** Lowers a linear layer with quantized weights by the kernel that is selected for them. Undefined if there is none. */
export function lowerBlockLinear(
  node: NodeOf<"linear">,
  source: Literal,
  blocks: QuantizedBlocks,
  { blockKernelFor }: LoweringContext,
): LoweredNode | undefined {
  const kernel = blockKernelFor(blocks);
  if (kernel === undefined) return undefined;
  return kernel.kind === "scalar"
    ? lowerScalarLinear(node, source, blocks, kernel.id)
    : lowerGeneratedLinear(node, source, blocks, kernel);
}

/** Quantizes the activations to 16 bits, or to 8 for ternary weights, then multiplies. */
function lowerGeneratedLinear(
  { operation, inputs, outputs }: NodeOf<"linear">,
  source: Literal,
  blocks: QuantizedBlocks,
  { id, level }: Extract<BlockKernel, { kind: "generated" }>,
): LoweredNode {
  const [x, , ...added] = inputs;
  const { rows: n, columns: k, format, type } = blocks;
  const m = elementCount(required(x, "the input of a linear layer").type.shape.slice(0, -1));
  const { bias, activation, residual } = operation;
  const request = { m, n, k, format, bias, activation, residual };
  // Machine code leaves an activation that comes last to a kernel of its own.
  const plain = residual === "after-activation" ? request : { ...request, activation: "none" as const };
  const hasMachineCode = level !== undefined && hasMachineBlockMatmul(plain);
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
        id: level === undefined || hasMachineCode ? id : blockKernelId(type),
        kernel: blockMatmul(hasMachineCode ? { ...plain, machineLevel: level } : request),
        operands: [
          activations,
          { kind: "packed", weights: packedBlocks(source, blocks) },
          ...added.map((value) => tensorOperand(value)),
          tensorOperand(outputs[0]),
        ],
      },
      ...(hasMachineCode && activation !== "none"
        ? [{ kernel: inPlace(activation, m * n), operands: [tensorOperand(outputs[0]), tensorOperand(outputs[0])] }]
        : []),
    ],
    temporaries: [m * activationRowBytes(layout, k)],
    ...omitUndefined({ prepares: x }),
  };
}

/** An activation of float32 elements, whose output may be its input. */
function inPlace(activation: Exclude<NonNullable<BlockMatmulRequest["activation"]>, "none">, elements: number): Kernel {
  return elementwise({
    shape: [elements],
    inputs: [{ type: "float32" }],
    steps: [{ op: activation, of: [0] }],
    output: "float32",
  });
}

/** Multiplies in plain TypeScript, which reads the weights as they are stored; then bias, activation and residual as the interpreter computes them. */
function lowerScalarLinear(
  { operation, inputs, outputs }: NodeOf<"linear">,
  source: Literal,
  blocks: QuantizedBlocks,
  id: string,
): LoweredNode {
  const [x, , ...added] = inputs;
  const { rows: n, columns: k, format } = blocks;
  const m = elementCount(required(x, "the input of a linear layer").type.shape.slice(0, -1));
  const weights = storedBlocks(source, blocks);
  const addedShapes = added.map(({ type }) => type.shape);
  const host: HostKernel = {
    operandBytes: [m * k, ...addedShapes.map(elementCount), m * n].map((count) => 4 * count).toSpliced(1, 0, weights.bytes),
    run: ([activations, stored, ...others]) => {
      const output = floatsIn(others.at(-1));
      multiplyScalar({ format, m, n, k }, floatsIn(activations), required(stored, "the weights"), output);
      const literals = addedShapes.map((shape, index) => floatLiteral(shape, floatsIn(others[index])));
      const [result] = applyEpilogue(operation, floatLiteral(required(outputs[0], "the output").type.shape, output), literals);
      if (result.data !== output) output.set(result.data as Float32Array);
    },
  };
  const operands: Operand[] = [
    tensorOperand(x),
    { kind: "packed", weights },
    ...added.map((value) => tensorOperand(value)),
    tensorOperand(outputs[0]),
  ];
  return { calls: [{ id, host, operands }] };
}

/** Lowers a gather of rows from a quantized table, in the layout of the kernel that multiplies it. Undefined if the table is not quantized. */
export function lowerBlockGather(
  { operation, inputs, outputs }: NodeOf<"gather">,
  { blockKernelFor }: LoweringContext,
): LoweredNode | undefined {
  const [data, indices] = inputs;
  const source = data?.constant?.storage?.blocks?.transposed;
  const blocks = multipliableBlocks(source);
  const indexType = getIndexType(indices);
  if (source === undefined || blocks === undefined || indexType === undefined) return undefined;
  if (operation.axis !== 0) return undefined;
  const count = elementCount(required(indices, "the indices of a gather").type.shape);
  const { rows: n, columns: k, format } = blocks;
  if (at(data?.type.shape ?? [], 0) !== n) return undefined; // reshaped
  const kernel = blockKernelFor(blocks);
  if (kernel?.kind === "scalar") {
    const weights = storedBlocks(source, blocks);
    const host: HostKernel = {
      operandBytes: [weights.bytes, count * (indexType === "int64" ? 8 : 4), 4 * count * k],
      run: ([stored, which, output]) =>
        gatherScalar({ format, n, k }, required(stored, "the weights"), getIndices(which, indexType), floatsIn(output)),
    };
    const operands: Operand[] = [{ kind: "packed", weights }, tensorOperand(indices), tensorOperand(outputs[0])];
    return { calls: [{ id: gatherScalarId, host, operands }] };
  }
  const weights: Operand = { kind: "packed", weights: packedBlocks(source, blocks) };
  return singleCall(
    gatherBlockRows({ n, k, count, format, indexType }),
    weights,
    tensorOperand(indices),
    tensorOperand(outputs[0]),
  );
}

/** Weights as they are stored: blocks row by row. */
function storedBlocks(source: Literal, { format, type, rows: n, columns: k }: QuantizedBlocks): PackedWeights {
  return {
    source,
    layout: `stored ${type} ${k}x${n}`,
    bytes: ((n * k) / format.elements) * format.bytes,
    packStored: (target) => target.set(required(source.storage?.blocks, "the blocks of quantized weights").read()),
    unpack: (packed) => transposedValues(format, packed, n, k),
  };
}

function floatLiteral(shape: readonly number[], data: Float32Array): Literal {
  return { dataType: "float32", shape, data };
}

function floatsIn(bytes: Uint8Array | undefined): Float32Array {
  return toFloats(required(bytes, "an operand"));
}

function getIndices(bytes: Uint8Array | undefined, type: "int64" | "int32"): BigInt64Array | Int32Array {
  const { buffer, byteOffset, byteLength } = required(bytes, "the indices");
  return type === "int64"
    ? new BigInt64Array(buffer, byteOffset, byteLength / 8)
    : new Int32Array(buffer, byteOffset, byteLength / 4);
}
