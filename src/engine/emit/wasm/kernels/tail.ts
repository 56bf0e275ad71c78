/** What happens to the sums of a product on their way to memory: scale, residual, activation. */
import type { I32, Local, V128 } from "../assembler/expression.ts";
import type { FunctionBuilder } from "../assembler/function-builder.ts";
import { f32x4, v128 } from "../assembler/vector.ts";
import { type Activation, activate } from "../math/activation.ts";
import { storeLanes } from "./lanes.ts";
import { indices, laneCount } from "./matmul-tile.ts";

export interface Tail {
  readonly activation: Activation;
  /** Where the residual is added, if there is one. */
  readonly residual: "none" | "before-activation" | "after-activation";
}

export interface TileStore {
  readonly sums: readonly (readonly Local<"v128">[])[];
  /** Columns of the tile that exist. */
  readonly columns: number;
  readonly c: I32;
  readonly cRowBytes: number;
  readonly residual: I32 | undefined;
  readonly residualRowBytes: number;
  /** Applied to the sums first: a scale or a bias that could not be the first sum. */
  readonly finish: (sum: V128, row: number, vector: number) => V128;
}

/** Ends a tile. Costly activations run in a loop over the rows, so that their code is there once per vector and not once per sum. */
export function storeTile(f: FunctionBuilder, tail: Tail, tile: TileStore): void {
  const { sums, columns, c, cRowBytes } = tile;
  const lanes = (vector: number): number => Math.min(laneCount, columns - vector * laneCount);
  const cheap = tail.activation === "none" || tail.activation === "relu";
  const finished = sums.map((row, r) => row.map((sum, v) => tile.finish(sum, r, v)));
  const ended = (sum: V128, residual: V128 | undefined): V128 => {
    if (residual === undefined) return activate(f, tail.activation, sum);
    if (tail.residual === "before-activation") return activate(f, tail.activation, f32x4.add(sum, residual));
    return f32x4.add(activate(f, tail.activation, sum), residual);
  };
  finished.forEach((row, r) =>
    row.forEach((sum, v) => {
      const residual = tile.residual && v128.load(tile.residual, r * tile.residualRowBytes + v * 16);
      storeLanes(f, c, cheap ? ended(sum, residual) : sum, lanes(v), r * cRowBytes + v * 16);
    }),
  );
  if (cheap) return;
  const at = f.value(c);
  const residualAt = tile.residual && f.value(tile.residual);
  f.repeat(sums.length, () => {
    for (const v of indices(sums[0]?.length ?? 0)) {
      const residual = residualAt && v128.load(residualAt, v * 16);
      storeLanes(f, at, ended(f.value(v128.load(at, v * 16)), residual), lanes(v), v * 16);
    }
    f.increase(at, cRowBytes);
    if (residualAt !== undefined) f.increase(residualAt, tile.residualRowBytes);
  });
}
