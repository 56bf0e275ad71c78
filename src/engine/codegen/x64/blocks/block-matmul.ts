/**
 * Linear layers with quantized weights as machine code: what the WebAssembly kernel `blockMatmul` computes for the same request, on the same packed weights
 * (see `block-layout.ts`), with vectors of twice its width, or with AVX-512 VNNI of four times. Sums of codes are exact, and the order of operations in float32 is
 * kept, so that the results are the same bits.
 */
import { activationRowBytes, blockLayout, blockPanelBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { type BlockMatmulRequest, blockMatmul } from "../../wasm/kernels/blocks/block-matmul.ts";
import { tileColumns, tileRows } from "../../wasm/kernels/matmul/micro-kernel.ts";
import { Assembler } from "../assembler/assembler.ts";
import type { Register } from "../assembler/operands.ts";
import { BlockTile } from "./block-tile.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { TernaryTile } from "./ternary-tile.ts";
import { wideBlockMatmul } from "./wide-block-matmul.ts";
import type { TileEmitter } from "./tile-emitter.ts";

/** Bytes of a row of a panel in the output. */
const outputBytes = tileColumns * 4;
/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r13", "r14", "r15"] as const satisfies readonly Register[];

/** Whether there is machine code for a request. WebAssembly alone computes columns that do not fill panels, and activations. */
export function hasMachineBlockMatmul({ n, activation = "none" }: BlockMatmulRequest): boolean {
  return n % tileColumns === 0 && activation === "none";
}

/** The machine code for a product with quantized weights, for a request of which `hasMachineBlockMatmul` is true. */
export function machineBlockMatmul(request: BlockMatmulRequest, level: X64Level): MachineFunction {
  const { k, format } = request;
  const { parameters, dynamicSizes } = blockMatmul(request);
  const address = (name: string, pieceBytes: number): MachineArgument => {
    const index = parameters.indexOf(name);
    return index < 0 ? { kind: "none" } : { kind: "address", operand: dynamicSizes.length + index, pieceBytes };
  };
  const layout = blockLayout(format);
  return {
    ...(level === "AVX-512 VNNI" ? wideBlockMatmul(request) : narrowBlockMatmul(request)),
    arguments: [
      address("a", 0),
      address("b", blockPanelBytes(layout, k)),
      address("bias", outputBytes),
      address("residual", outputBytes),
      address("c", outputBytes),
      { kind: "pieces" },
      { kind: "operand", operand: 0 }, // row blocks, the one dynamic size
    ],
  };
}

/** The code for AVX2. */
function narrowBlockMatmul(request: BlockMatmulRequest): MachineFunction {
  const { m, n, k, format } = request;
  const layout = blockLayout(format);
  const Tile = layout.depth === 4 ? TernaryTile : BlockTile;
  const asm = new Assembler({ bits: 256, hasEvex: false });
  const rowBytes = activationRowBytes(layout, k);
  const tile = new Tile({ asm, request, layout, rowBytes });
  emitLoops(asm, tile, m, n, { panelBytes: blockPanelBytes(layout, k), activationBytes: rowBytes });
  return asm.machineFunction;
}

/**
 * Generates the loops over panels and rows. Arguments: rdi a, rsi b, rdx bias, rcx residual, r8 c, r9 number of panels; on the stack the number of row
 * blocks. In the loop over row blocks rbp is at the activations of the block, rbx at its output, r14 at its residual.
 */
function emitLoops(
  asm: Assembler,
  tile: TileEmitter,
  m: number,
  n: number,
  bytes: { readonly panelBytes: number; readonly activationBytes: number },
): void {
  const tailRows = m % tileRows;
  const emitTile = (rows: number): void => {
    tile.emit(rows);
    asm.add("rbp", rows * bytes.activationBytes);
    asm.add("rbx", rows * n * 4);
    asm.add("r14", rows * n * 4);
  };
  for (const register of saved) asm.push(register);
  asm.add("rsp", -tile.stackBytes);
  tile.emitConstants();
  asm.countDown("r9", () => {
    asm.move("rbp", "rdi");
    asm.move("rbx", "r8");
    asm.move("r14", "rcx");
    if (m >= tileRows) {
      const returnAddress = 8;
      asm.load("r11", { base: "rsp", displacement: tile.stackBytes + saved.length * 8 + returnAddress });
      asm.countDown("r11", () => emitTile(tileRows));
    }
    if (tailRows > 0) emitTile(tailRows);
    asm.add("rsi", bytes.panelBytes);
    for (const register of ["rdx", "rcx", "r8"] as const) asm.add(register, outputBytes);
  });
  asm.add("rsp", tile.stackBytes);
  for (const register of saved.toReversed()) asm.pop(register);
  asm.return();
}
