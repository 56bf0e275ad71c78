/** Transposed convolutions as plain ones with more channels, whose results are put between each other; see `transposed-phases.ts`. */
import { elementCount } from "../../tensor.ts";
import { conv2d, type DepthWindow, interleave, stridedCopy } from "../codegen/wasm/index.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import { type Literal, literalOf } from "../ir/literal.ts";
import { type LoweredNode, type Operand, type LoweredCall, tensorOperand } from "./lowered-node.ts";
import {
  packPhases,
  type PhasedAxis,
  type PhasedChannels,
  type Phases,
  decomposePhases,
} from "./convolution-transpose-phases.ts";

const floatBytes = 4;
/** So many times the kernel's own products at most may be with the zeros that fill phases. */
const maxZeroFillRatio = 8;
/** Weights that are computed are put in order element by element of the kernel. */
const maxDynamicTaps = 64;

export function lowerConvolutionTranspose({
  operation,
  inputs,
  outputs,
}: NodeOf<"convolution-transpose">): LoweredNode | undefined {
  const [x, weights, bias] = inputs;
  const [y] = outputs;
  if (x === undefined || weights === undefined || y === undefined || x.type.dataType !== "float32") return undefined;
  const [batch = 0, inChannels = 0, ...sizes] = x.type.shape;
  const [, ownOutputs = 0, ...kernel] = weights.type.shape;
  const { groups, activation = "none" } = operation;
  if (sizes.length > 3) return undefined;
  const phases = decomposePhases({ operation, sizes, kernel, outputSizes: y.type.shape.slice(2) });
  const channels = { groups, inputs: inChannels / groups, outputs: ownOutputs };
  if (phases.phases * phases.window > maxZeroFillRatio * elementCount(kernel)) return undefined;
  const temporaries: number[] = [];
  const temporary = (bytes: number): Operand => ({ kind: "temporary", index: temporaries.push(bytes) - 1 });
  const packed = packedWeights(weights, channels, phases, temporary);
  if (packed === undefined) return undefined;
  const [row = unitAxis, column = unitAxis] = [unitAxis, ...phases.axes].slice(-2);
  const [height = 1, width = 1] = [1, ...sizes].slice(-2);
  const depth = sizes.length === 3 ? depthWindow(phases.axes[0] ?? unitAxis, sizes[0] ?? 1) : undefined;
  const outChannels = groups * ownOutputs * phases.phases;
  const convolution = conv2d({
    batch,
    inChannels,
    outChannels,
    groups,
    bias: bias !== undefined,
    activation,
    window: {
      input: [height, width],
      size: [row.size, column.size],
      dilations: [row.dilation, column.dilation],
      pads: [row.pads[0], column.pads[0], row.pads[1], column.pads[1]],
    },
    ...(depth === undefined ? {} : { depth }),
  });
  const biases = bias === undefined ? [] : [repeatedBias(bias, phases.phases)];
  const given = [tensorOperand(x), packed.operand, ...biases];
  if (phases.axes.every(isUnphased)) {
    return { calls: [...packed.calls, { kernel: convolution, operands: [...given, tensorOperand(y)] }], temporaries };
  }
  const apart = temporary(batch * outChannels * elementCount(phases.axes.map(({ phaseLength }) => phaseLength)) * floatBytes);
  const joined = interleave({ planes: batch * groups * ownOutputs, axes: phases.axes });
  const calls: LoweredCall[] = [
    ...packed.calls,
    { kernel: convolution, operands: [...given, apart] },
    { kernel: joined, operands: [apart, tensorOperand(y)] },
  ];
  return { calls, temporaries };
}

/** The axis that a sequence lacks, to be a plane. */
const unitAxis: PhasedAxis = { phases: 1, size: 1, dilation: 1, pads: [0, 0], phaseLength: 1, skip: 0, length: 1 };

/** The first of three axes. */
function depthWindow({ size, dilation, pads, phaseLength }: PhasedAxis, input: number): DepthWindow {
  return { input, size, stride: 1, dilation, pad: pads[0], output: phaseLength };
}

function isUnphased({ phases, phaseLength, skip, length }: PhasedAxis): boolean {
  return phases === 1 && skip === 0 && phaseLength === length;
}

interface PackedOperand {
  readonly operand: Operand;
  /** What puts weights in order that are only known in a run. */
  readonly calls: readonly LoweredCall[];
}

function packedWeights(
  weights: Value,
  channels: PhasedChannels,
  phases: Phases,
  temporary: (bytes: number) => Operand,
): PackedOperand | undefined {
  const { groups, inputs, outputs } = channels;
  const bytes = groups * outputs * inputs * phases.phases * phases.window * floatBytes;
  const source = weights.constant;
  if (source !== undefined) {
    const layout = `phases ${JSON.stringify(channels)} ${phases.layoutKey}`;
    const pack = (target: Uint8Array, elements: Literal["data"]): void =>
      packPhases(floatsOf(target), elements as Float32Array, channels, phases);
    return { operand: { kind: "packed", weights: { source, layout, bytes, pack } }, calls: [] };
  }
  if (phases.taps.length > maxDynamicTaps) return undefined;
  const operand = temporary(bytes);
  const shape = [groups, outputs, inputs];
  const own = phases.taps.length;
  const from = [inputs * outputs * own, own, outputs * own];
  const to = [outputs * phases.phases * inputs * phases.window, phases.phases * inputs * phases.window, phases.window];
  const calls = phases.taps.map(({ phase, position, tap }): LoweredCall => ({
    kernel: stridedCopy({ shape, from, to, elementBytes: floatBytes }),
    operands: [tensorOperand(weights, tap * floatBytes), at(operand, (phase * inputs * phases.window + position) * floatBytes)],
  }));
  const filling = phases.phases * phases.window > own ? [zeroFill(operand, bytes / floatBytes)] : [];
  return { operand, calls: [...filling, ...calls] };
}

/** Zeros, which lie between computed weights. */
function zeroFill(operand: Operand, count: number): LoweredCall {
  const zero: Operand = { kind: "packed", weights: { source: literalOf("float32", [], [0]), layout: "zero", bytes: floatBytes } };
  return { kernel: stridedCopy({ shape: [count], from: [0], to: [1], elementBytes: floatBytes }), operands: [zero, operand] };
}

function at(operand: Operand, byteOffset: number): Operand {
  return operand.kind === "temporary" ? { ...operand, byteOffset } : operand;
}

/** Each number of the bias once for every phase. */
function repeatedBias(bias: Value, times: number): Operand {
  const source = bias.constant;
  if (times === 1 || source === undefined) return tensorOperand(bias);
  const pack = (target: Uint8Array, elements: Literal["data"]): void => {
    const values = floatsOf(target);
    for (let index = 0; index < values.length; index += 1) values[index] = Number(elements[Math.floor(index / times)]);
  };
  const bytes = elementCount(source.shape) * times * floatBytes;
  return { kind: "packed", weights: { source, layout: `each ${times} times`, bytes, pack } };
}

function floatsOf({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / floatBytes);
}
