/** The loop over the rows of a product: tiles of as many rows as the registers hold, then smaller ones. */
import type { Assembler } from "../assembler/assembler.ts";
import type { Register } from "../assembler/operands.ts";

/** Rows of the tiles of a product. */
export interface RowTiles {
  /** Register with the number of rows, which ends at 0. Must be above 0. */
  readonly rows: Register;
  /** Rows of the largest tile: 2 or more. */
  readonly tileRows: number;
  /** Whether the number of rows can be odd. */
  readonly canBeOdd: boolean;
  /** The number of rows, if it is known when the code is generated. */
  readonly known?: number | undefined;
}

/** Calls `tile` once for each number of rows that occurs, to generate the code of one tile and what moves its pointers on. */
export function emitRowTiles(asm: Assembler, { rows, tileRows, canBeOdd, known }: RowTiles, tile: (rows: number) => void): void {
  if (known !== undefined && known <= tileRows) {
    tile(known);
    return;
  }
  const emit = (count: number): void => {
    tile(count);
    asm.add(rows, -count);
  };
  const rest = asm.label();
  asm.integer("cmp", rows, tileRows);
  asm.jump(rest, "l");
  const start = asm.here();
  emit(tileRows);
  asm.integer("cmp", rows, tileRows);
  asm.jump(start, "ge");
  asm.bind(rest);
  for (let count = 2 ** Math.floor(Math.log2(tileRows - 1)); count >= 1; count /= 2) {
    if (count === 1 && !canBeOdd) break;
    const next = asm.label();
    asm.integer("cmp", rows, count);
    asm.jump(next, "l");
    emit(count);
    asm.bind(next);
  }
}
