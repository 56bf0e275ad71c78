/**
 * Code generation for ternary weights times 8-bit activations. Codes are 0, 1 and 2 for -1, 0 and 1; the sum of the activations makes up for the difference. Products
 * of a super-block are summed in 16 bits: see `maxByteActivationGroup` in `block-layout.ts`.
 */
import { at as item } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { i32 } from "../../assembler/scalar.ts";
import { f32x4, i16x8, i32x4, v128 } from "../../assembler/vector.ts";
import { indices } from "../loops/lanes.ts";
import { emitMicroKernel, tileColumns } from "../matmul/micro-kernel.ts";
import { activationRowBytes, type BlockLayout, byteActivationGroupBytes } from "./block-layout.ts";

/** Some rows of the product with one panel of weights. */
export interface BlockRows {
  readonly layout: BlockLayout;
  readonly k: number;
  readonly rows: number;
  /** Address of the activations of the first row. */
  readonly activations: I32;
  /** Address of the packed panel. */
  readonly weights: I32;
}

/** Sums of the products as float32, as [row][vector of four columns]. */
export type RowSums = readonly (readonly Local<"v128">[])[];

const vectors = [0, 1] as const;
/** Codes of one byte. */
const codesPerByte = 4;
/** Neighbouring k of a column that one dot product instruction multiplies. */
const depth = 4;
/** Bytes of the codes of 16 neighbouring k of a panel. */
const packedBytes = 2 * 16;
/** Bytes of the widened codes of 4 neighbouring k of a panel. */
const wideBytes: number = depth * tileColumns;

/**
 * Generates the loop over k for some rows. `wide`: address of the panel from `widenTernaryPanel`; undefined: the packed codes are read directly, for one row.
 */
export function emitTernaryRows(
  f: FunctionBuilder,
  { layout, k, rows, activations, weights }: BlockRows,
  wide: I32 | undefined,
): RowSums {
  const { superElements, headerBytes, superBytes } = layout;
  const rowBytes = activationRowBytes(layout, k);
  const totals = indices(rows).map(() => vectors.map(() => f.value(v128.zero)));
  const header = f.value(weights);
  const a = f.value(activations);
  const b = wide === undefined ? undefined : f.value(wide);
  const ones = f.value(i16x8.splat(i32.const(1)));
  f.repeat(k / superElements, () => {
    const sums =
      b === undefined
        ? [packedSums(f, superElements, a, f.value(i32.add(header, i32.const(headerBytes))))]
        : wideSums(f, { rows, rowBytes, superElements, a, b });
    for (const row of indices(rows)) {
      const activationScale = f.value(v128.load32Splat(a, row * rowBytes + superElements));
      const activationSum = f.value(v128.load32Splat(a, row * rowBytes + superElements + 4));
      for (const vector of vectors) {
        const sum = i32x4.sub(i32x4.dotI16x8S(item(item(sums, row), vector), ones), activationSum);
        const scale = f32x4.mul(v128.load(header, vector * 16), activationScale);
        const total = item(item(totals, row), vector);
        f.set(total, f32x4.add(total, f32x4.mul(f32x4.convertI32x4S(sum), scale)));
      }
    }
    f.increase(a, byteActivationGroupBytes(superElements));
    f.increase(header, superBytes);
    if (b !== undefined) f.increase(b, superElements * tileColumns);
  });
  return totals;
}

/** Generates the 16-bit sums of a super-block for one row, from codes as they lie. */
function packedSums(f: FunctionBuilder, superElements: number, a: Local<"i32">, codes: Local<"i32">): readonly Local<"v128">[] {
  const sums = vectors.map(() => f.value(v128.zero));
  const factors = f.value(a);
  const mask = f.value(codeMask());
  f.repeat(superElements / (depth * codesPerByte), () => {
    const packed = vectors.map((vector) => f.value(v128.load(codes, vector * 16)));
    for (const step of indices(codesPerByte)) {
      const factor = f.value(v128.load32Splat(factors, step * depth));
      for (const vector of vectors) {
        const sum = item(sums, vector);
        f.set(sum, i16x8.add(sum, f.pairDot(factor, f.value(getCodes(item(packed, vector), step, mask)))));
      }
    }
    f.increase(codes, packedBytes);
    f.increase(factors, depth * codesPerByte);
  });
  return sums;
}

/** Generates the 16-bit sums of a super-block for several rows, from a widened panel. */
function wideSums(
  f: FunctionBuilder,
  {
    rows,
    rowBytes,
    superElements,
    a,
    b,
  }: {
    readonly rows: number;
    readonly rowBytes: number;
    readonly superElements: number;
    readonly a: Local<"i32">;
    readonly b: Local<"i32">;
  },
): RowSums {
  return emitMicroKernel(f, {
    rows,
    vectors: vectors.length,
    depth: superElements / depth,
    a,
    b,
    aRowBytes: rowBytes,
    aDepthBytes: depth,
    bDepthBytes: wideBytes,
    arithmetic: {
      loadColumns: (address, offset) => v128.load(address, offset),
      accumulate: (_f, factor, columns, sum) => i16x8.add(sum, f.pairDot(f.value(factor), f.value(columns))),
    },
    start: () => v128.zero,
  });
}

/** Writes the codes of a panel as bytes: for each four k the codes of 8 columns. */
export function widenTernaryPanel(f: FunctionBuilder, layout: BlockLayout, k: number, weights: I32, scratch: I32): void {
  const { superElements, headerBytes } = layout;
  const source = f.value(weights);
  const target = f.value(scratch);
  const mask = f.value(codeMask());
  f.repeat(k / superElements, () => {
    f.increase(source, headerBytes);
    f.repeat(superElements / (depth * codesPerByte), () => {
      for (const vector of vectors) {
        const packed = f.value(v128.load(source, vector * 16));
        for (const step of indices(codesPerByte))
          f.run(v128.store(target, getCodes(packed, step, mask), step * wideBytes + vector * 16));
      }
      f.increase(source, packedBytes);
      f.increase(target, codesPerByte * wideBytes);
    });
  });
}

/** The lowest code of each byte. */
function codeMask(): V128 {
  return i16x8.splat(i32.const(0x0303));
}

/** The codes of one step, a byte for each. */
function getCodes(packed: Local<"v128">, step: number, mask: Local<"v128">): V128 {
  return v128.and(step === 0 ? packed : i16x8.shrU(packed, i32.const(2 * step)), mask);
}
