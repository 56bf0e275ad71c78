/** Lowers transposed convolutions to plain convolutions with more channels, followed by interleaving; see `convolution-transpose-phases.ts`. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { conv2d, type DepthWindow, floatBytes, interleave, stridedCopy } from "../codegen/wasm/index.ts";
import type { NodeOf, Value } from "../ir/graph.ts";
import { type Literal, toLiteral } from "../ir/literal.ts";
import { type LoweredNode, type Operand, type LoweredCall, toFloats, tensorOperand } from "./lowered-node.ts";
import {
  packPhases,
  type PhasedAxis,
  type PhasedChannels,
  type Phases,
  decomposePhases,
} from "./convolution-transpose-phases.ts";

/** Upper bound on the ratio of multiplications after decomposition (including zero-filled taps) to multiplications with the original kernel. */
const maxZeroFillRatio = 8;
/** Upper bound on kernel elements when the weights are computed at run time: each one takes a strided copy. */
const maxDynamicTaps = 64;

/**
 * Lowers a transposed convolution of one to three spatial axes in float32: packing of the weights, a convolution, and interleaving where the stride
 * exceeds 1. undefined when decomposition would multiply the work by more than `maxZeroFillRatio`.
 */
export function lowerConvolutionTranspose({
  operation,
  inputs,
  outputs,
}: NodeOf<"convolution-transpose">): LoweredNode | undefined {
  const [x, weights, bias] = inputs;
  const [y] = outputs;
  if (x === undefined || weights === undefined || y === undefined || x.type.dataType !== "float32") return undefined;
  const [batch, inChannels] = [at(x.type.shape, 0), at(x.type.shape, 1)];
  const sizes = x.type.shape.slice(2);
  const ownOutputs = at(weights.type.shape, 1);
  const kernel = weights.type.shape.slice(2);
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
  const depth = sizes.length === 3 ? depthWindow(at(phases.axes, 0), at(sizes, 0)) : undefined;
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
    ...omitUndefined({ depth }),
  });
  const repeated = bias === undefined ? undefined : repeatedBias(bias, phases.phases, temporary);
  const convolutionInputs = [tensorOperand(x), packed.operand, ...(repeated === undefined ? [] : [repeated.operand])];
  const packing = [...packed.calls, ...(repeated?.calls ?? [])];
  if (phases.axes.every(isUnphased)) {
    return { calls: [...packing, { kernel: convolution, operands: [...convolutionInputs, tensorOperand(y)] }], temporaries };
  }
  const phaseElements = elementCount(phases.axes.map(({ phaseLength }) => phaseLength));
  const phaseResults = temporary(batch * outChannels * phaseElements * floatBytes);
  const interleaving = interleave({ planes: batch * groups * ownOutputs, axes: phases.axes });
  const calls: LoweredCall[] = [
    ...packing,
    { kernel: convolution, operands: [...convolutionInputs, phaseResults] },
    { kernel: interleaving, operands: [phaseResults, tensorOperand(y)] },
  ];
  return { calls, temporaries };
}

/** Stands in for the missing second axis, so that a 1-D convolution runs as a 2-D one. */
const unitAxis: Pick<PhasedAxis, "size" | "dilation" | "pads"> = { size: 1, dilation: 1, pads: [0, 0] };

/** The depth axis, the outermost of three spatial axes, as the kernel takes it. */
function depthWindow({ size, dilation, pads, phaseLength }: PhasedAxis, input: number): DepthWindow {
  return { input, size, stride: 1, dilation, pad: pads[0], output: phaseLength };
}

/** Whether the convolution computes all elements of the axis and no others. A phase from which elements are skipped is longer. */
function isUnphased({ phases, phaseLength, length }: PhasedAxis): boolean {
  return phases === 1 && phaseLength === length;
}

interface PackedOperand {
  readonly operand: Operand;
  /** Copies that reorder weights which are only known at run time; empty for constants. */
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
      packPhases(toFloats(target), elements as Float32Array, channels, phases);
    return { operand: { kind: "packed", weights: { source, layout, bytes, pack } }, calls: [] };
  }
  if (phases.taps.length > maxDynamicTaps) return undefined;
  const operand = temporary(bytes);
  const shape = [groups, outputs, inputs];
  const taps = phases.taps.length;
  const from = [inputs * outputs * taps, taps, outputs * taps];
  const to = [outputs * phases.phases * inputs * phases.window, phases.phases * inputs * phases.window, phases.window];
  const calls = phases.taps.map(({ phase, position, tap }): LoweredCall => ({
    kernel: stridedCopy({ shape, from, to, elementBytes: floatBytes }),
    operands: [
      tensorOperand(weights, tap * floatBytes),
      withByteOffset(operand, (phase * inputs * phases.window + position) * floatBytes),
    ],
  }));
  const fill = phases.phases * phases.window > taps ? [zeroFill(operand, bytes / floatBytes)] : [];
  return { operand, calls: [...fill, ...calls] };
}

/** A call that fills a temporary with zeros, for window positions without a kernel element. */
function zeroFill(operand: Operand, count: number): LoweredCall {
  const zero: Operand = { kind: "packed", weights: { source: toLiteral("float32", [], [0]), layout: "zero", bytes: floatBytes } };
  return { kernel: stridedCopy({ shape: [count], from: [0], to: [1], elementBytes: floatBytes }), operands: [zero, operand] };
}

function withByteOffset(operand: Operand, byteOffset: number): Operand {
  return operand.kind === "temporary" ? { ...operand, byteOffset } : operand;
}

/** The bias as the convolution reads it: each element once for every phase. */
function repeatedBias(bias: Value, times: number, temporary: (bytes: number) => Operand): PackedOperand {
  const source = bias.constant;
  if (times === 1) return { operand: tensorOperand(bias), calls: [] };
  const count = elementCount(bias.type.shape);
  const bytes = count * times * floatBytes;
  if (source === undefined) {
    const operand = temporary(bytes);
    const kernel = stridedCopy({ shape: [count, times], from: [1, 0], to: [times, 1], elementBytes: floatBytes });
    return { operand, calls: [{ kernel, operands: [tensorOperand(bias), operand] }] };
  }
  const pack = (target: Uint8Array, elements: Literal["data"]): void => {
    const values = toFloats(target);
    for (let index = 0; index < values.length; index += 1) values[index] = Number(elements[Math.floor(index / times)]);
  };
  return { operand: { kind: "packed", weights: { source, layout: `each ${times} times`, bytes, pack } }, calls: [] };
}
