/** The epilogue of a matrix product: scale, bias, activation and residual, applied to the sums before they are stored. */
import type { Activation } from "../../../../ir/operations.ts";
import { required } from "../../../../../contract/checked.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { activate } from "../../math/activation.ts";
import { indices, laneCount, storeLanes } from "../loops/lanes.ts";

/** Operations applied to the sums of a matrix product before they are stored: bias, activation, residual. */
export interface Epilogue {
  readonly activation: Activation;
  /** Whether a residual is added, and whether before or after the activation. */
  readonly residual: "none" | "before-activation" | "after-activation";
}

/** A tile of sums in registers, and the addresses of its output and residual. */
export interface TileStore {
  readonly sums: readonly (readonly Local<"v128">[])[];
  /** Number of columns to store; the remaining lanes are padding. */
  readonly columns: number;
  readonly c: I32;
  readonly cRowBytes: number;
  readonly residual: I32 | undefined;
  readonly residualRowBytes: number;
  /** Applied to each vector of sums before the epilogue: scales, and a bias that is not the initial sum. */
  readonly finish: (sum: V128, row: number, vector: number) => V128;
}

/**
 * Generates code that applies the epilogue to a tile and stores it. Expensive activations run in a loop over the rows, which generates their code
 * once per vector instead of once per sum.
 */
export function storeTile(f: FunctionBuilder, tail: Epilogue, tile: TileStore): void {
  const { sums, columns, c, cRowBytes } = tile;
  const lanes = (vector: number): number => Math.min(laneCount, columns - vector * laneCount);
  const vectors = indices(required(sums[0], "the first row of a tile").length);
  const isCheap = tail.activation === "none" || tail.activation === "relu";
  const isLate = tail.residual === "after-activation";
  const residual = (row: number, vector: number): V128 | undefined =>
    tile.residual && v128.load(tile.residual, row * tile.residualRowBytes + vector * 16);
  const added = (sum: V128, term: V128 | undefined): V128 => (term === undefined ? sum : f32x4.add(sum, term));
  const activated = (sum: V128): V128 => (isCheap ? activate(f, tail.activation, sum) : sum);
  sums.forEach((row, r) =>
    row.forEach((sum, v) => {
      const finished = tile.finish(sum, r, v);
      const early = isLate ? activated(finished) : activated(added(finished, residual(r, v)));
      const result = isLate && isCheap ? added(early, residual(r, v)) : early;
      storeLanes(f, c, result, lanes(v), r * cRowBytes + v * 16);
    }),
  );
  if (isCheap) return;
  const at = f.value(c);
  const residualAt = isLate && tile.residual ? f.value(tile.residual) : undefined;
  f.repeat(sums.length, () => {
    for (const v of vectors) {
      const result = activate(f, tail.activation, f.value(v128.load(at, v * 16)));
      storeLanes(f, at, added(result, residualAt && v128.load(residualAt, v * 16)), lanes(v), v * 16);
    }
    f.increase(at, cRowBytes);
    if (residualAt !== undefined) f.increase(residualAt, tile.residualRowBytes);
  });
}
