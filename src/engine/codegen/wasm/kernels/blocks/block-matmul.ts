/**
 * Linear layers with quantized weights: C = activation(A B + bias) + residual, where B stays quantized in memory and A is quantized to 16 bits. The products of codes
 * are summed exactly in int32 for each group, then scaled and summed in float32. One row reads the codes as they lie. Several rows widen a panel to 16-bit integers
 * once and use it for all of them; each row gets the bits that it gets alone.
 */
import type { X64Level } from "../../../../../kernels/simd-levels.ts";
import type { Activation } from "../../../../ir/operations.ts";
import { at as item } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i16x8, i32x4, v128 } from "../../assembler/vector.ts";
import { type Kernel, defineKernel } from "../../kernel.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices } from "../loops/lanes.ts";
import { emitMicroKernel, tileColumns, tileRows } from "../matmul/micro-kernel.ts";
import { type Epilogue, storeTile } from "../matmul/epilogue.ts";
import { emitCodes, groupSteps, blockStepBytes, stepPairs } from "./block-codes.ts";
import { type BlockRows, emitTernaryRows, type RowSums, widenTernaryPanel } from "./ternary-rows.ts";
import {
  activationGroup,
  activationGroupBytes,
  activationRowBytes,
  activationScaleOffset,
  activationSumOffsets,
  type BlockLayout,
  blockLayout,
  type BlockShape,
  lowPlaneBytes,
  blockPanelBytes,
} from "./block-layout.ts";

/** Shapes and fused operations of one product with quantized weights. */
export interface BlockMatmulRequest {
  /** Rows of A and C. A has rows of `quantizeActivations`, B is [k, n] packed by `packBlocks`, C is [m, n] float32 row-major. */
  readonly m: number;
  readonly n: number;
  /** A multiple of the elements of a block, and of 32. */
  readonly k: number;
  readonly format: BlockShape;
  readonly bias?: boolean;
  readonly activation?: Activation;
  readonly residual?: Epilogue["residual"];
  /** Level of the machine code that computes the product. Default: WebAssembly computes it. */
  readonly machineLevel?: X64Level | undefined;
}

const multiplyAddsPerNanosecond = 20;
/** Bytes of a pair of k of a panel, widened to 16 bits. */
const widePairBytes = tileColumns * 2 * 2;
const vectors = [0, 1] as const;

/** Bytes of a panel as `widenPanel` and `widenTernaryPanel` write it. */
function widePanelBytes({ depth }: BlockLayout, k: number): number {
  return depth === 4 ? k * tileColumns : (k / 2) * widePairBytes;
}

/**
 * Generates the kernel. Parameters: a, b, then bias and residual if requested, then c, and scratch for several rows. One piece (unit of parallel work) is a panel of 8
 * columns.
 */
export function blockMatmul(request: BlockMatmulRequest): Kernel {
  const { m, n, k, format, bias = false, activation = "none", residual = "none", machineLevel } = request;
  const layout = blockLayout(format);
  const panels = Math.ceil(n / tileColumns);
  const lastColumns = n - (panels - 1) * tileColumns;
  const tailRows = m % tileRows;
  const rowBlocks = (m - tailRows) / tileRows;
  const isRow = m === 1;
  const isTernary = layout.depth === 4;
  return defineKernel({
    family: "block-matmul",
    request: {
      rows: isRow ? 1 : { tailRows, hasBlocks: rowBlocks > 0 },
      n,
      k,
      format: layout,
      bias,
      activation,
      residual,
      machineLevel, // so that machine code that is kept is not taken for a product that WebAssembly is to compute
    },
    dynamicSizes: { rowBlocks },
    inputs: ["a", "b"],
    optional: { bias, residual: residual !== "none" },
    outputs: ["c"],
    pieces: panels,
    pieceNanoseconds: (m * n * k) / panels / multiplyAddsPerNanosecond + 1,
    scratchBytes: isRow ? 0 : widePanelBytes(layout, k),
    machine: machineLevel && { request, level: machineLevel },
    emit(f, { a, b, c, bias: biasAt, residual: residualAt, scratch }, from, to, { rowBlocks: blocks }) {
      const emit = isTernary ? emitTernaryRows : emitRows;
      f.range(from, to, 1, (panel) => {
        const weights = f.value(offsetBy(b, panel, blockPanelBytes(layout, k)));
        const biases =
          biasAt && vectors.map((vector) => f.value(v128.load(offsetBy(biasAt, panel, tileColumns * floatBytes), vector * 16)));
        const rowBytes = n * floatBytes;
        const store = (sums: RowSums, row: I32, columns: number): void => {
          const on = (base: I32): Local<"i32"> =>
            f.value(offsetBy(offsetBy(base, panel, tileColumns * floatBytes), row, rowBytes));
          storeTile(
            f,
            { activation, residual },
            {
              sums: sums.map((each) => each.slice(0, Math.ceil(columns / 4))),
              columns,
              c: on(c),
              cRowBytes: rowBytes,
              residual: residualAt && on(residualAt),
              residualRowBytes: rowBytes,
              finish: (sum, _row, vector) => (biases === undefined ? sum : f32x4.add(sum, item(biases, vector))),
            },
          );
        };
        const finish = (sums: RowSums, row: I32): void => {
          if (lastColumns === tileColumns) store(sums, row, tileColumns);
          else {
            f.when(
              i32.eq(panel, i32.const(panels - 1)),
              () => store(sums, row, lastColumns),
              () => store(sums, row, tileColumns),
            );
          }
        };
        if (scratch === undefined) {
          finish(emit(f, { layout, k, rows: 1, activations: a, weights }, undefined), i32.const(0));
          return;
        }
        (isTernary ? widenTernaryPanel : widenPanel)(f, layout, k, weights, scratch);
        const getActivations = (row: I32): I32 => offsetBy(a, row, activationRowBytes(layout, k));
        if (rowBlocks > 0) {
          f.range(i32.const(0), blocks, 1, (block) => {
            const row = f.value(i32.mul(block, i32.const(tileRows)));
            finish(emit(f, { layout, k, rows: tileRows, activations: getActivations(row), weights }, scratch), row);
          });
        }
        if (tailRows > 0) {
          const row = f.value(i32.mul(blocks, i32.const(tileRows)));
          finish(emit(f, { layout, k, rows: tailRows, activations: getActivations(row), weights }, scratch), row);
        }
      });
    },
  });
}

/** Writes the codes of a panel, with their smallest code, as pairs of 16-bit integers: for each pair of k those of 8 columns. */
function widenPanel(f: FunctionBuilder, layout: BlockLayout, k: number, weights: I32, scratch: I32): void {
  const source = f.value(weights);
  const target = f.value(scratch);
  const smallest = f.value(i16x8.splat(i32.const(layout.smallestCode)));
  f.repeat(k / layout.superElements, () => {
    f.increase(source, layout.headerBytes);
    f.repeat(layout.superElements / layout.groupElements, () => {
      const codes = f.value(i32.add(source, i32.const(layout.groupHeaderBytes)));
      const high = layout.highBits === 0 ? undefined : f.value(i32.add(codes, i32.const(lowPlaneBytes(layout))));
      const step = f.value(i32.const(0));
      f.repeat(groupSteps(layout), () => {
        emitCodes(f, layout, { at: codes, high, step }, (pair, both) => {
          for (const [vector, code] of both.entries())
            f.run(v128.store(target, i16x8.add(code, smallest), pair * widePairBytes + vector * 16));
        });
        f.increase(codes, blockStepBytes(layout));
        f.increase(target, stepPairs(layout) * widePairBytes);
        f.increase(step, 1);
      });
      f.increase(source, layout.groupBytes);
    });
  });
}

/** Generates the loop over k for some rows. `wide`: address of the widened panel; undefined: the codes are read as they lie, for one row. */
function emitRows(f: FunctionBuilder, { layout, k, rows, activations, weights }: BlockRows, wide: I32 | undefined): RowSums {
  const { superElements, groupElements, hasGroupScales, hasMins, headerBytes, groupBytes } = layout;
  const rowBytes = activationRowBytes(layout, k);
  const zeros = (): RowSums => indices(rows).map(() => vectors.map(() => f.value(v128.zero)));
  const totals = zeros();
  const parts = hasGroupScales ? zeros() : totals;
  const mins = hasMins && hasGroupScales ? zeros() : undefined;
  const header = f.value(weights);
  const group = f.local("i32");
  const a = f.value(activations);
  const b = wide === undefined ? undefined : f.value(wide);
  const halves = activationGroup / groupElements;
  // Two super-blocks of 16 share the activations of a group.
  const isHalf = superElements < activationGroup;
  const elements = Math.max(superElements, activationGroup);
  f.repeat(k / elements, () => {
    for (const each of [hasGroupScales ? parts : [], mins ?? []])
      for (const row of each) for (const sum of row) f.set(sum, v128.zero);
    f.set(group, i32.add(header, i32.const(headerBytes)));
    f.repeat(elements / activationGroup, () => {
      for (const half of indices(halves)) {
        const sums = products(f, { layout, rows, rowBytes, half, a, b, group });
        const getScale = (vector: number): V128 =>
          hasGroupScales ? int8Lanes(group, vector, "signed") : v128.load(header, vector * 16);
        const scales = vectors.map((vector) => f.value(getScale(vector)));
        const minimums = hasMins
          ? vectors.map((vector) =>
              f.value(hasGroupScales ? int8Lanes(group, vector, "unsigned") : v128.load(header, tileColumns * 4 + vector * 16)),
            )
          : undefined;
        for (const row of indices(rows)) {
          const activationScale = f.value(v128.load32Splat(a, row * rowBytes + activationScaleOffset));
          for (const vector of vectors) {
            const part = item(item(parts, row), vector);
            const scaled = f32x4.mul(item(scales, vector), activationScale);
            f.set(part, f32x4.add(part, f32x4.mul(f32x4.convertI32x4S(item(item(sums, row), vector)), scaled)));
          }
          if (minimums === undefined) continue;
          const count = v128.load32Splat(a, row * rowBytes + sumOffset(layout, half));
          const sum = f.value(f32x4.mul(f32x4.convertI32x4S(count), activationScale));
          for (const vector of vectors) {
            const target = item(item(mins ?? totals, row), vector);
            const product = f32x4.mul(item(minimums, vector), sum);
            f.set(target, mins === undefined ? f32x4.sub(target, product) : f32x4.add(target, product));
          }
        }
        f.increase(group, isHalf ? layout.superBytes : groupBytes);
        if (isHalf) f.increase(header, layout.superBytes);
        if (b !== undefined) f.increase(b, (groupElements / 2) * widePairBytes);
      }
      f.increase(a, activationGroupBytes);
    });
    if (hasGroupScales) {
      for (const row of indices(rows)) {
        for (const vector of vectors) {
          const total = item(item(totals, row), vector);
          f.set(total, f32x4.add(total, f32x4.mul(item(item(parts, row), vector), v128.load(header, vector * 16))));
          if (mins === undefined) continue;
          const scale = v128.load(header, tileColumns * 4 + vector * 16);
          f.set(total, f32x4.sub(total, f32x4.mul(item(item(mins, row), vector), scale)));
        }
      }
    }
    if (!isHalf) f.increase(header, layout.superBytes);
  });
  return totals;
}

/** Byte offset of the sum of the activations of a group. */
function sumOffset({ groupElements }: BlockLayout, half: number): number {
  return groupElements === activationGroup ? activationSumOffsets[2] : item(activationSumOffsets, half);
}

/** Four group scales or minima as float32. */
function int8Lanes(group: I32, vector: number, kind: "signed" | "unsigned"): V128 {
  const wide = (kind === "signed" ? v128.load8x8S : v128.load8x8U)(group, kind === "signed" ? 0 : tileColumns);
  const signed = vector === 0 ? i32x4.extendLowI16x8S : i32x4.extendHighI16x8S;
  return f32x4.convertI32x4S(signed(wide));
}

interface Products {
  readonly layout: BlockLayout;
  readonly rows: number;
  readonly rowBytes: number;
  /** Which group of 16 among 32 activations; 0 for groups of 32. */
  readonly half: number;
  readonly a: Local<"i32">;
  readonly b: Local<"i32"> | undefined;
  readonly group: Local<"i32">;
}

/** Generates the sums of the products of one group, exact in int32. */
function products(f: FunctionBuilder, { layout, rows, rowBytes, half, a, b, group }: Products): RowSums {
  const pairs = layout.groupElements / 2;
  const first = half * pairs * 4;
  if (b !== undefined) {
    return emitMicroKernel(f, {
      rows,
      vectors: vectors.length,
      depth: pairs,
      a: i32.add(a, i32.const(first)),
      b,
      aRowBytes: rowBytes,
      aDepthBytes: 4,
      bDepthBytes: widePairBytes,
      arithmetic: {
        loadColumns: (address, offset) => v128.load(address, offset),
        accumulate: (_f, factor, columns, sum) => i32x4.add(sum, i32x4.dotI16x8S(columns, factor)),
      },
      start: () => v128.zero,
    });
  }
  // Codes lack the smallest code, which the sum of the activations makes up for.
  const start =
    layout.smallestCode === 0
      ? v128.zero
      : f.value(i32x4.mul(v128.load32Splat(a, sumOffset(layout, half)), i32x4.const(layout.smallestCode)));
  const sums = vectors.map(() => f.value(start));
  const codes = f.value(i32.add(group, i32.const(layout.groupHeaderBytes)));
  const high = layout.highBits === 0 ? undefined : f.value(i32.add(codes, i32.const(lowPlaneBytes(layout))));
  const factors = f.value(i32.add(a, i32.const(first)));
  const step = f.value(i32.const(0));
  const isCounted = layout.highBits > 0;
  f.repeat(groupSteps(layout), () => {
    emitCodes(f, layout, { at: codes, high, step }, (pair, both) => {
      const factor = f.value(v128.load32Splat(factors, pair * 4));
      for (const [vector, code] of both.entries()) {
        const sum = item(sums, vector);
        f.set(sum, i32x4.add(sum, i32x4.dotI16x8S(code, factor)));
      }
    });
    f.increase(codes, blockStepBytes(layout));
    f.increase(factors, stepPairs(layout) * 4);
    if (isCounted) f.increase(step, 1);
  });
  return [sums];
}
