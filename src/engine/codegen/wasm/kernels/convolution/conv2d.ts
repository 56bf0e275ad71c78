/**
 * Convolution of [batch, channels, height, width] in float32 or int32, with bias and activation, as a matrix product: 4 output channels times 8
 * neighbouring positions of an output row. A 1 x 1 convolution with stride 1 treats the whole plane as one row. With `depth` the window also spans
 * several planes of each channel (3-D convolution).
 */
import type { Activation } from "../../../../ir/operations.ts";
import type { I32 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { type BlockRange, emitBlock } from "../loops/blocks.ts";
import { offsetBy, unravel } from "../loops/addressing.ts";
import { floatBytes, laneCount } from "../loops/lanes.ts";
import { emitMicroKernel, int32TileArithmetic, tileColumns, tileRows } from "../matmul/micro-kernel.ts";
import { copyPanel } from "../matmul/panel-copy.ts";
import { storeTile } from "../matmul/epilogue.ts";
import { required } from "../../../../../contract/checked.ts";
import { machineScratchBytes } from "../../../x64/index.ts";
import { panelChannels } from "./channel-panels.ts";
import { depthwise } from "./depthwise.ts";
import { copyVolumePatch, copyPatch } from "./im2col.ts";
import { type DepthWindow, type ResolvedWindow, type KernelWindow, flattenPointwise, resolveWindow } from "./window.ts";

/** Shapes and fused operations of one convolution kernel. */
export interface Conv2dRequest {
  readonly batch: number;
  readonly inChannels: number;
  readonly outChannels: number;
  /** Number of groups. The output channels of a group read only the input channels of that group. Default: 1. */
  readonly groups?: number;
  readonly window: KernelWindow;
  /** The depth axis of a 3-D convolution, before height and width. Default: 2-D. */
  readonly depth?: DepthWindow;
  /** int32 sums wrap around and take no activation. Default: float32. */
  readonly type?: ConvolutionType;
  /** Whether a bias [outChannels] is added. Default: false. */
  readonly bias?: boolean;
  /** Activation of the output. Default: none. */
  readonly activation?: Activation;
  /** Whether the weights are in panels of channels, see `channel-panels.ts`. Not for 3-D, int32 and depthwise. Default: false. */
  readonly hasPanels?: boolean;
}

/** Element type of the input, weights, bias and output of a convolution. */
export type ConvolutionType = "float32" | "int32";

const multiplyAddsPerNanosecond = 20;

/**
 * Generates the kernel of a 2-D convolution. Parameters: x, weights [outChannels, inChannels / groups, height, width], bias if
 * requested, y, and scratch when `scratchBytes` is not 0. One piece (unit of parallel work) computes 8 positions of one image and group, a row of positions
 * if the weights are in panels, or a plane when every channel is a group of its own.
 */
export function conv2d(request: Conv2dRequest): Kernel {
  const { batch, inChannels, outChannels, groups = 1, bias = false, activation = "none" } = request;
  const { depth: deep, type = "float32", hasPanels = false } = request;
  const window = resolveWindow(request.window);
  if (groups === inChannels && groups === outChannels && deep === undefined)
    return depthwise({ batch, channels: groups, window, bias, activation, type });
  const shape = deep === undefined && !hasPanels ? flattenPointwise(window) : window;
  const layer: Layer = {
    window: shape,
    isPointwise: deep === undefined && isPointwise(shape),
    deep,
    type,
    channels: inChannels / groups,
    outputs: outChannels / groups,
    activation,
    hasPanels,
  };
  const [height, width] = shape.output;
  const panels = Math.ceil(width / tileColumns);
  const depth = getDepth(layer);
  const [inPlanes, outPlanes] = [deep?.input ?? 1, deep?.output ?? 1];
  const machine = deep === undefined && type === "float32" ? { request: { ...layer, groups, bias } } : undefined;
  const piecePanels = hasPanels ? panels : 1;
  const planeBytes = (plane: readonly [number, number]): number => plane[0] * plane[1] * floatBytes;
  return defineKernel({
    family: "conv2d",
    request: { ...layer, hasPanels: hasPanels ? true : undefined, groups, panels, bias },
    inputs: ["x", "weights"],
    optional: { bias },
    outputs: ["y"],
    pieces: (batch * groups * outPlanes * height * panels) / piecePanels,
    pieceNanoseconds: piecePanels * ((depth * Math.min(width, tileColumns) * layer.outputs) / multiplyAddsPerNanosecond + 20),
    scratchBytes: Math.max(
      Math.ceil(depth / laneCount) * laneCount * tileColumns * floatBytes,
      machine === undefined ? 0 : machineScratchBytes("conv2d", machine.request),
    ),
    machine,
    emit(f, { x, weights, y, bias: biasAt, scratch = x }, from, to) {
      const groupChannels = hasPanels ? Math.ceil(layer.outputs / panelChannels) * panelChannels : layer.outputs;
      const [first, end] = [from, to].map((piece) => f.value(i32.mul(piece, i32.const(piecePanels))));
      f.range(required(first, "the first panel"), required(end, "the end of the panels"), 1, (piece) => {
        const places = [batch * groups, outPlanes, height, panels];
        const [image = piece, level = piece, row = piece, panel = piece] = unravel(f, piece, places);
        const group = f.value(i32.remU(image, i32.const(groups)));
        const column = f.value(i32.mul(panel, i32.const(tileColumns)));
        const target = offsetBy(y, image, layer.outputs * outPlanes * planeBytes(shape.output));
        const plane = deep === undefined ? target : offsetBy(target, level, planeBytes(shape.output));
        const at: PanelAddresses = {
          x: f.value(offsetBy(x, image, layer.channels * inPlanes * planeBytes(shape.input))),
          weights: f.value(offsetBy(weights, group, groupChannels * depth * floatBytes)),
          y: f.value(offsetBy(offsetBy(plane, row, width * floatBytes), column, floatBytes)),
          bias: biasAt && f.value(offsetBy(biasAt, group, layer.outputs * floatBytes)),
          scratch,
          level,
          row,
          column,
        };
        const range: BlockRange = { block: panel, blocks: panels, size: width, width: tileColumns };
        emitBlock(f, range, (columns) => emitPanel(f, layer, at, columns));
      });
    },
  });
}

interface Layer {
  readonly window: ResolvedWindow;
  readonly isPointwise: boolean;
  readonly deep: DepthWindow | undefined;
  readonly type: ConvolutionType;
  /** Input channels of one group. */
  readonly channels: number;
  /** Output channels of one group. */
  readonly outputs: number;
  readonly activation: Activation;
  readonly hasPanels: boolean;
}

interface PanelAddresses {
  readonly x: I32;
  readonly weights: I32;
  readonly y: I32;
  readonly bias: I32 | undefined;
  readonly scratch: I32;
  /** Index of the output plane along the depth axis. */
  readonly level: I32;
  readonly row: I32;
  readonly column: I32;
}

/** Number of multiply-adds per output element: input channels of one group times taps of the window. */
function getDepth({ channels, window, deep }: Layer): number {
  return channels * (deep?.size ?? 1) * window.size[0] * window.size[1];
}

function isPointwise({ size, strides, pads, input }: ResolvedWindow): boolean {
  return input[0] === 1 && [...size, ...strides].every((value) => value === 1) && pads.every((pad) => pad === 0);
}

/** The first weight of block `block` of 4 channels, in panels of 16. */
function inPanel(weights: I32, block: I32, depth: number): I32 {
  const blocksPerPanel = panelChannels / tileRows;
  const panel = i32.divU(block, i32.const(blocksPerPanel));
  const inside = i32.remU(block, i32.const(blocksPerPanel));
  return offsetBy(offsetBy(weights, panel, depth * panelChannels * floatBytes), inside, tileRows * floatBytes);
}

function emitPanel(f: FunctionBuilder, layer: Layer, at: PanelAddresses, columns: number): void {
  const { window, channels, outputs, activation, deep, type, hasPanels } = layer;
  const depth = getDepth(layer);
  const vectors = Math.ceil(columns / laneCount);
  const rowBytes = (deep?.output ?? 1) * window.output[0] * window.output[1] * floatBytes;
  if (layer.isPointwise) {
    const from = offsetBy(at.x, at.column, floatBytes);
    copyPanel(f, { depth, columns, from, to: at.scratch, rowStride: window.input[1], columnStride: 1 });
  } else {
    const patch = { window, channels, image: at.x, row: at.row, column: at.column, columns, to: at.scratch };
    if (deep === undefined) copyPatch(f, patch);
    else copyVolumePatch(f, patch, deep, at.level);
  }
  const tile = (block: I32, rows: number): void => {
    const bias = at.bias && f.value(offsetBy(at.bias, block, tileRows * floatBytes));
    const sums = emitMicroKernel(f, {
      rows,
      vectors,
      depth,
      a: hasPanels ? inPanel(at.weights, block, depth) : offsetBy(at.weights, block, tileRows * depth * floatBytes),
      b: at.scratch,
      aRowBytes: hasPanels ? floatBytes : depth * floatBytes,
      aDepthBytes: hasPanels ? panelChannels * floatBytes : floatBytes,
      bDepthBytes: vectors * laneCount * floatBytes,
      ...(type === "int32" ? { arithmetic: int32TileArithmetic } : {}),
      start: (row) => (bias === undefined ? v128.zero : v128.load32Splat(bias, row * floatBytes)),
    });
    storeTile(
      f,
      { activation, residual: "none" },
      {
        sums,
        columns,
        c: f.value(offsetBy(at.y, block, tileRows * rowBytes)),
        cRowBytes: rowBytes,
        residual: undefined,
        residualRowBytes: rowBytes,
        finish: (sum) => sum,
      },
    );
  };
  const whole = Math.floor(outputs / tileRows);
  if (whole > 0) f.range(i32.const(0), i32.const(whole), 1, (block) => tile(block, tileRows));
  if (outputs % tileRows > 0) tile(i32.const(whole), outputs % tileRows);
}
