/** The part of a product that depends on how weights are stored: the sums of some rows and the 8 columns of a panel. */
import type { BlockMatmulRequest } from "../../wasm/kernels/blocks/block-matmul.ts";
import type { BlockLayout } from "../../wasm/kernels/blocks/block-layout.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { Vector } from "../assembler/operands.ts";

/**
 * Generates code for tiles. Registers at the beginning of a tile: rsi weights of the panel, rdx bias of its columns, rbp activations, rbx output, r14 residual
 * of the first row. A tile may change rax, r10, r13, r15 and all vectors except the constants.
 */
export interface TileEmitter {
  /** Bytes at the stack pointer that tiles use. A multiple of 8. */
  readonly stackBytes: number;
  /** Generates the code that sets constants in vector registers. */
  emitConstants(): void;
  /** Generates the code that computes and stores a tile of `rows` rows. */
  emit(rows: number): void;
}

/** Request, registers and constants of a tile. */
export interface TileContext {
  readonly asm: Assembler;
  readonly request: BlockMatmulRequest;
  readonly layout: BlockLayout;
  /** Bytes of a row of quantized activations. */
  readonly rowBytes: number;
}

/** Generates the code that adds bias and residual to the sums of rows and stores them. */
export function emitStores(
  asm: Assembler,
  { n, bias, residual }: BlockMatmulRequest,
  rows: number,
  sumOf: (row: number) => Vector,
): void {
  for (let row = 0; row < rows; row += 1) {
    const sum = sumOf(row);
    const displacement = row * n * 4;
    if (bias === true) asm.vector("vaddps", sum, sum, { base: "rdx", displacement: 0 });
    if (residual !== undefined && residual !== "none") asm.vector("vaddps", sum, sum, { base: "r14", displacement });
    asm.vector("vmovupsStore", { base: "rbx", displacement }, sum);
  }
}
