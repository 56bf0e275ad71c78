/** Lowers operations on states that lie in several blocks of memory, one for each sequence of a batch, to the calls of each sequence. */
import { elementCount } from "../../contract/tensor.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import { type LoweredCall, type LoweredNode, type LoweringRule, type Operand } from "./lowered-node.ts";
import { storageBytes } from "./movement.ts";

/**
 * Lowers a node to the calls that `lower` gives for one sequence, once for each of `blocks` sequences, so that a sequence is computed by the same code
 * alone and in a batch. Operands for which `isState` holds are in the block of the sequence; all others are contiguous, with the batch on axis 0.
 * Returns undefined unless the operation computes each sequence from its own operands.
 */
export function lowerBySequence(
  node: GraphNode,
  blocks: number,
  isState: (value: Value) => boolean,
  lower: (node: GraphNode) => ReturnType<LoweringRule>,
): LoweredNode | undefined {
  if (!isBatched(node, blocks)) return undefined;
  const originals = new Map<Value, Value>();
  const one = (value: Value): Value => {
    const { dataType, shape } = value.type;
    const single: Value = { type: { dataType, shape: shape.with(0, 1) } };
    originals.set(single, value);
    return single;
  };
  const lowered = lower({ ...node, inputs: node.inputs.map(one), outputs: node.outputs.map(one) });
  if (lowered === undefined) return undefined;
  const inBlock = (operand: Operand, block: number): Operand => {
    const value = operand.kind === "tensor" ? originals.get(operand.value) : undefined;
    if (operand.kind !== "tensor" || value === undefined) return operand;
    if (isState(value)) return { ...operand, value, block };
    const { dataType, shape } = operand.value.type;
    return { ...operand, value, byteOffset: operand.byteOffset + block * elementCount(shape) * storageBytes(dataType) };
  };
  const calls = Array.from({ length: blocks }, (_, block) =>
    lowered.calls.map(({ operands, ...call }): LoweredCall => ({
      ...call,
      operands: operands.map((operand) => inBlock(operand, block)),
    })),
  ).flat();
  return { calls }; // none of these operations has temporaries
}

/** Whether axis 0 of all operands is the batch, and the operation does not move elements along it. */
function isBatched({ operation, inputs, outputs }: GraphNode, blocks: number): boolean {
  const values = [...inputs, ...outputs];
  if (values.some(({ type, constant }) => constant !== undefined || type.shape[0] !== blocks)) return false;
  const haveEqualRanks = values.every(({ type }) => type.shape.length === outputs[0]?.type.shape.length);
  if (operation.kind === "elementwise") return haveEqualRanks;
  if (operation.kind === "concat") return true; // along axis 0, the output would have more than `blocks` sequences
  if (operation.kind === "matmul") return haveEqualRanks && values.every(({ type }) => type.shape.length > 2);
  return operation.kind === "fused-matmul" && [operation.a, operation.b, operation.result].every(([first]) => first === 0);
}
