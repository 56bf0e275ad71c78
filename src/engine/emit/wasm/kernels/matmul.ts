/**
 * C = activation(alpha * A B + bias) with packed, constant B: the linear layers.
 *
 * Panels of 8 columns are the outer loop, tiles of 4 rows the inner, k the innermost: a panel stays in the first cache, A in the second.
 * Few rows take several panels at once, so that as many sums are in flight as the multiply-add units need.
 */
import type { I32, Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { i32 } from "../assembler/scalar.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { type Kernel, defineKernel } from "../kernel.ts";
import type { Activation } from "../math/activation.ts";
import { lesser } from "./indexing.ts";
import { floatBytes, indices, laneCount, multiplyTile, tileColumns, tileRows } from "./matmul-tile.ts";
import { type Tail, storeTile } from "./tail.ts";

export interface MatmulRequest {
  /** C is [m, n], A is [m, k], both row-major; B is [k, n] packed by `packMatmulWeights`. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Elements from one row to the next; k and n where absent. The residual has the stride of C. */
  readonly aStride?: number;
  readonly cStride?: number;
  /** Multiplies the product, not the bias; 1 where absent. */
  readonly alpha?: number;
  /** Adds a vector of n. */
  readonly bias?: boolean;
  readonly activation?: Activation;
  /** Adds a matrix shaped like C, which may be C itself. */
  readonly residual?: Tail["residual"];
}

/** Rows of A that are gone through before the next panel: about half of a second cache of 1 MB. */
const blockBytes = 512 * 1024;
/** A call is split by columns where there are this many panels, else by rows. */
const fewPanels = 4;
const floatsPerNanosecond = 25;

/** Parameters: a, b, then bias and residual where asked for, then c. Pieces: panels of 8 columns, or blocks of 4 rows where m is large. */
export function matmul(request: MatmulRequest): Kernel {
  const { m, n, k, aStride = k, cStride = n, alpha = 1, bias = false, activation = "none", residual = "none" } = request;
  const panels = Math.ceil(n / tileColumns);
  const rowBlocks = Math.ceil(m / tileRows);
  const blockRows = Math.max(1, Math.floor(blockBytes / (Math.max(k, 1) * floatBytes * tileRows))) * tileRows;
  const byColumns = m <= blockRows && (panels >= fewPanels || panels >= rowBlocks);
  const plan: Plan = { m, n, k, aStride, cStride, alpha, tail: { activation, residual }, panels, blockRows };
  const pieces = byColumns ? panels : rowBlocks;
  return defineKernel({
    family: "matmul",
    request: { m, n, k, aStride, cStride, alpha, bias, activation, residual },
    inputs: ["a", "b"],
    optional: { bias, residual: residual !== "none" },
    outputs: ["c"],
    pieces,
    pieceNanoseconds: (m * n * k) / pieces / floatsPerNanosecond + 1,
    emit(f, offsets, from, to) {
      const { a, b, c, bias: biasAt, residual: residualAt } = offsets;
      const given: Operands = { a, b, c, bias: biasAt, residual: residualAt };
      if (byColumns) emitColumns(f, plan, given, { from, to }, { from: i32.const(0), to: i32.const(rowBlocks) });
      else emitRowBlocks(f, plan, given, { from, to });
    },
  });
}

interface Plan extends Required<Pick<MatmulRequest, "m" | "n" | "k" | "aStride" | "cStride" | "alpha">> {
  readonly tail: Tail;
  readonly panels: number;
  readonly blockRows: number;
}

interface Operands {
  readonly a: I32;
  readonly b: I32;
  readonly c: I32;
  readonly bias: I32 | undefined;
  readonly residual: I32 | undefined;
}

interface Range {
  readonly from: I32;
  readonly to: I32;
}

function emitColumns(f: FunctionBuilder, plan: Plan, given: Operands, panels: Range, blocks: Range): void {
  const whole = Math.floor(plan.n / tileColumns);
  const rest = plan.n % tileColumns;
  const wholeTo = f.value(lesser(panels.to, i32.const(whole)));
  const next = f.value(panels.from);
  const atOnce = panelsAtOnce(plan.m);
  if (atOnce > 1) {
    f.while(
      () => i32.leS(i32.add(next, i32.const(atOnce)), wholeTo),
      () => {
        emitPanels(f, plan, given, { first: next, columns: atOnce * tileColumns }, blocks);
        f.increase(next, atOnce);
      },
    );
  }
  f.range(next, wholeTo, 1, (panel) => emitPanels(f, plan, given, { first: panel, columns: tileColumns }, blocks));
  if (rest > 0) {
    f.when(i32.gtS(panels.to, i32.const(whole)), () =>
      emitPanels(f, plan, given, { first: i32.const(whole), columns: rest }, blocks),
    );
  }
}

/** Blocks of rows whose part of A fits the second cache, each against all panels. */
function emitRowBlocks(f: FunctionBuilder, plan: Plan, given: Operands, blocks: Range): void {
  f.range(blocks.from, blocks.to, plan.blockRows / tileRows, (first) => {
    const end = f.value(lesser(i32.add(first, i32.const(plan.blockRows / tileRows)), blocks.to));
    emitColumns(f, plan, given, { from: i32.const(0), to: i32.const(plan.panels) }, { from: first, to: end });
  });
}

/** Registers of a tile of few rows: sums, columns and one factor for each row stay within V8's 15. */
function panelsAtOnce(m: number): number {
  if (m === 1) return 3;
  return m === 2 ? 2 : 1;
}

interface Columns {
  readonly first: I32;
  readonly columns: number;
}

/** One panel, or some that lie side by side, against blocks of rows. */
function emitPanels(f: FunctionBuilder, plan: Plan, given: Operands, panel: Columns, blocks: Range): void {
  const whole = Math.floor(plan.m / tileRows);
  const rest = plan.m % tileRows;
  const columnBytes = f.value(i32.mul(panel.first, i32.const(tileColumns * floatBytes)));
  const at: Operands = {
    a: given.a,
    b: f.value(i32.add(given.b, i32.mul(columnBytes, i32.const(plan.k)))),
    c: f.value(i32.add(given.c, columnBytes)),
    bias: given.bias && f.value(i32.add(given.bias, columnBytes)),
    residual: given.residual && f.value(i32.add(given.residual, columnBytes)),
  };
  if (whole > 0) {
    f.range(blocks.from, lesser(blocks.to, i32.const(whole)), 1, (block) =>
      emitTile(f, plan, at, block, { rows: tileRows, columns: panel.columns }),
    );
  }
  if (rest > 0) {
    f.when(i32.gtS(blocks.to, i32.const(whole)), () =>
      emitTile(f, plan, at, i32.const(whole), { rows: rest, columns: panel.columns }),
    );
  }
}

function emitTile(
  f: FunctionBuilder,
  plan: Plan,
  at: Operands,
  block: I32,
  size: { readonly rows: number; readonly columns: number },
): void {
  const { k, alpha } = plan;
  const aRowBytes = plan.aStride * floatBytes;
  const cRowBytes = plan.cStride * floatBytes;
  const vectors = Math.ceil(size.columns / laneCount);
  const cOffset = f.value(i32.mul(block, i32.const(tileRows * cRowBytes)));
  const biases: readonly Local<"v128">[] = at.bias === undefined ? [] : biasVectors(f, at.bias, vectors);
  const sums = multiplyTile(f, {
    rows: size.rows,
    vectors,
    depth: k,
    a: i32.add(at.a, i32.mul(block, i32.const(tileRows * aRowBytes))),
    b: at.b,
    aRowBytes,
    aDepthBytes: floatBytes,
    bDepthBytes: tileColumns * floatBytes,
    bVectorBytes: (vector) => Math.floor(vector / 2) * k * tileColumns * floatBytes + (vector % 2) * 16,
    start: (_row, vector) => (alpha === 1 ? (biases[vector] ?? v128.zero) : v128.zero),
  });
  storeTile(f, plan.tail, {
    sums,
    columns: size.columns,
    c: i32.add(at.c, cOffset),
    cRowBytes,
    residual: at.residual && f.value(i32.add(at.residual, cOffset)),
    residualRowBytes: cRowBytes,
    finish: (sum, _row, vector) => scaled(f, sum, alpha, biases[vector]),
  });
}

function biasVectors(f: FunctionBuilder, bias: I32, vectors: number): Local<"v128">[] {
  return indices(vectors).map((vector) => f.value(v128.load(bias, vector * 16)));
}

function scaled(f: FunctionBuilder, sum: V128, alpha: number, bias: V128 | undefined): V128 {
  if (alpha === 1) return sum; // the bias was the first sum
  return bias === undefined ? f32x4.mul(sum, f32x4.const(alpha)) : f.madd(sum, f32x4.const(alpha), bias);
}
