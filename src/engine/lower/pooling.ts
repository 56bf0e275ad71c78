/** Lowers max and average pooling of one to three spatial axes to the pool2d kernel. */
import type { NodeOf } from "../ir/graph.ts";
import { elementCount } from "../../contract/tensor.ts";
import { elementwise, floatBytes, type Kernel, pool2d } from "../codegen/wasm/index.ts";
import type { Window } from "../ir/operations.ts";
import { type LoweredNode, type Operand, type LoweringContext, tensorOperand } from "./lowered-node.ts";
import { ceilModeWindow, window2d } from "./window-2d.ts";

/** Lowers max pooling of float32, uint8 or int8 whose second output, the positions, is unused. */
export function lowerMaxPool(
  { operation, inputs, outputs }: NodeOf<"max-pool">,
  { isOutputUsed }: LoweringContext,
): LoweredNode | undefined {
  const [x] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || isOutputUsed(1)) return undefined;
  const type = x.type.dataType;
  const [from, to] = [x.type.shape, y.type.shape];
  const pooling: Pooling = { kind: "max", kernel: operation.kernel, window: operation, countPadding: false, from, to };
  if (type === "float32") return lowerPooling(pooling, tensorOperand(x), tensorOperand(y), 0);
  if (type !== "uint8" && type !== "int8") return undefined;
  // 8-bit integers are converted to float32, which represents them exactly, and back.
  const [wide, largest] = [temporary(0), temporary(1)];
  const floats = lowerPooling(pooling, wide, largest, 2);
  if (floats === undefined) return undefined;
  return {
    calls: [
      { kernel: castKernel(from, type, "float32"), operands: [tensorOperand(x), wide] },
      ...floats.calls,
      { kernel: castKernel(to, "float32", type), operands: [largest, tensorOperand(y)] },
    ],
    temporaries: [elementCount(from) * floatBytes, elementCount(to) * floatBytes, ...(floats.temporaries ?? [])],
  };
}

type CastType = "float32" | "uint8" | "int8";

function castKernel(shape: readonly number[], from: CastType, to: CastType): Kernel {
  return elementwise({ shape, inputs: [{ type: from }], steps: [{ op: "cast", of: [0], to }], output: to });
}

function temporary(index: number): Operand {
  return { kind: "temporary", index };
}

/** Lowers average pooling of float32. */
export function lowerAveragePool({ operation, inputs, outputs }: NodeOf<"average-pool">): LoweredNode | undefined {
  const [x] = inputs;
  const [y] = outputs;
  if (x === undefined || y === undefined || x.type.dataType !== "float32") return undefined;
  const { kernel, countPadding } = operation;
  const [from, to] = [x.type.shape, y.type.shape];
  return lowerPooling(
    { kind: "average", kernel, window: operation, countPadding, from, to },
    tensorOperand(x),
    tensorOperand(y),
    0,
  );
}

interface Pooling {
  readonly kind: "max" | "average";
  readonly kernel: readonly number[];
  readonly window: Window;
  readonly countPadding: boolean;
  /** Shape of the input, [batch, channels, ...spatial]. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Elements of a window from which the largest is found by rows and then by columns: a 13 x 13 window takes 26 comparisons instead of 169. */
const minSeparableElements = 16;

/**
 * Lowers pooling. Three axes take two calls: height and width first, then depth, with each plane flattened to a row; so do large windows of max pooling:
 * width first, then height. `next` is the index of the first free temporary.
 */
function lowerPooling(pooling: Pooling, x: Operand, y: Operand, next: number): LoweredNode | undefined {
  const { kernel, window } = pooling;
  const [batch = 0, channels = 0, ...sizes] = pooling.from;
  const to = pooling.to.slice(2);
  const isSeparable = pooling.kind === "max" && Math.min(...kernel) > 1 && elementCount(kernel) >= minSeparableElements;
  if (sizes.length === 1 || (sizes.length === 2 && !isSeparable)) {
    const whole = poolKernel(pooling, { planes: batch * channels, sizes, to, kernel, window });
    return whole && { calls: [{ kernel: whole, operands: [x, y] }] };
  }
  const [levels = 1, ...plane] = sizes;
  const [outLevels = 1, ...outPlane] = to;
  const [[front = 0, ...before], [back = 0, ...after]] = [window.pads.slice(0, sizes.length), window.pads.slice(sizes.length)];
  const [[size = 1, ...flat], [stride = 1, ...strides], [dilation = 1, ...dilations]] = [
    kernel,
    window.strides,
    window.dilations,
  ];
  const isPlane = plane.length === 1; // its rows are pooled as one plane that keeps its height
  const [height, one, none] = isPlane ? [[levels], [1], [0]] : [[], [], []];
  const planes = poolKernel(pooling, {
    planes: batch * channels * (isPlane ? 1 : levels),
    sizes: [...height, ...plane],
    to: [...height, ...outPlane],
    kernel: [...one, ...flat],
    window: {
      strides: [...one, ...strides],
      dilations: [...one, ...dilations],
      pads: [...none, ...before, ...none, ...after],
    },
  });
  const area = elementCount(outPlane);
  const column = poolKernel(pooling, {
    planes: batch * channels,
    sizes: [levels, area],
    to: [outLevels, area],
    kernel: [size, 1],
    window: { strides: [stride, 1], dilations: [dilation, 1], pads: [front, 0, back, 0] },
  });
  if (planes === undefined || column === undefined) return undefined;
  return {
    calls: [
      { kernel: planes, operands: [x, temporary(next)] },
      { kernel: column, operands: [temporary(next), y] },
    ],
    temporaries: [batch * channels * levels * area * floatBytes],
  };
}

interface PoolPlanes {
  readonly planes: number;
  /** Spatial sizes of the input: one or two axes. */
  readonly sizes: readonly number[];
  readonly to: readonly number[];
  readonly kernel: readonly number[];
  readonly window: Window;
}

function poolKernel({ kind, countPadding }: Pooling, { planes, sizes, to, kernel, window }: PoolPlanes): Kernel | undefined {
  const stated = window2d(sizes, kernel, window);
  const grown = ceilModeWindow(sizes, to, kernel, window);
  if (stated === undefined || grown === undefined) return undefined;
  return pool2d({ planes, kind, window: grown, ...(countPadding ? { countedPads: stated.pads } : {}) });
}
