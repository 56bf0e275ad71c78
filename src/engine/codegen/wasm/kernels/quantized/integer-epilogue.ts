/** The epilogue of integer products: exact sums are stored as int32, or as float32 after scales, bias, activation and residual. */
import type { Activation } from "../../../../ir/operations.ts";
import type { I32, Local, V128 } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import { f32x4, v128 } from "../../assembler/vector.ts";
import { offsetBy } from "../loops/addressing.ts";
import { floatBytes, indices, laneCount, storeLanes } from "../loops/lanes.ts";
import { tileColumns, tileRows } from "../matmul/micro-kernel.ts";
import type { TilePosition } from "../matmul/tiling.ts";
import { type Epilogue, storeTile } from "../matmul/epilogue.ts";

/** float32 results activation(sum * aScale * bScale + bias), with an optional residual. A has one scale, B one or one per column. */
export interface FloatOutput {
  readonly bScale: "tensor" | "column";
  readonly bias?: boolean;
  readonly activation?: Activation;
  readonly residual?: Epilogue["residual"];
}

/** The output of an integer product: its int32 sums, or float32 results after scales, bias, activation and residual. */
export type IntegerOutput = "int32" | FloatOutput;

type Operand = "aScale" | "bScale" | "bias" | "residual";

/** For each optional operand (scales, bias, residual), whether a kernel with this output takes it as a parameter. */
export function optionalOperands(output: IntegerOutput): Readonly<Record<Operand, boolean>> {
  const float = output === "int32" ? undefined : output;
  return {
    aScale: float !== undefined,
    bScale: float !== undefined,
    bias: float?.bias ?? false,
    residual: (float?.residual ?? "none") !== "none",
  };
}

/** A tile of exact int32 sums, its position in the output matrix, and the operands of the epilogue. */
export interface IntegerTile {
  readonly n: number;
  readonly output: IntegerOutput;
  readonly place: TilePosition;
  readonly sums: readonly (readonly Local<"v128">[])[];
  readonly c: I32;
  readonly operands: Readonly<Partial<Record<Operand, I32>>>;
}

/** Generates code that stores a tile: as int32, or as float32 after scales, bias, residual and activation are applied. */
export function storeIntegers(f: FunctionBuilder, { n, output, place, sums, c, operands }: IntegerTile): void {
  const { rowBlock, panel, columns } = place;
  const cRowBytes = n * floatBytes;
  const onColumns = (base: I32): I32 => offsetBy(base, panel, tileColumns * floatBytes);
  const onC = (base: I32): Local<"i32"> => f.value(offsetBy(onColumns(base), rowBlock, tileRows * cRowBytes));
  const at = onC(c);
  if (output === "int32") {
    sums.forEach((row, r) =>
      row.forEach((sum, v) => storeLanes(f, at, sum, Math.min(laneCount, columns - v * laneCount), r * cRowBytes + v * 16)),
    );
    return;
  }
  const { aScale = c, bScale = c, bias, residual } = operands;
  const factor = f.value(v128.load32Splat(aScale));
  const scales = indices(Math.ceil(columns / laneCount)).map((vector) =>
    f.value(output.bScale === "tensor" ? v128.load32Splat(bScale) : v128.load(onColumns(bScale), vector * 16)),
  );
  const biasAt = bias && f.value(onColumns(bias));
  storeTile(
    f,
    { activation: output.activation ?? "none", residual: output.residual ?? "none" },
    {
      sums,
      columns,
      c: at,
      cRowBytes,
      residual: residual && onC(residual),
      residualRowBytes: cRowBytes,
      finish: (sum, _row, vector) => {
        const scale = f32x4.mul(factor, scales[vector] ?? sum);
        return scaleAndAddBias(f, f32x4.convertI32x4S(sum), scale, biasAt && v128.load(biasAt, vector * 16));
      },
    },
  );
}

function scaleAndAddBias(f: FunctionBuilder, value: V128, scale: V128, bias: V128 | undefined): V128 {
  return bias === undefined ? f32x4.mul(value, scale) : f.madd(value, scale, bias);
}
