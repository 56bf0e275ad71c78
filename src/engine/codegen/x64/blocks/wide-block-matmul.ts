/**
 * Linear layers with quantized weights in AVX-512 with VNNI. Few rows read one panel of 8 columns after the other, at the speed of the memory. For many rows two
 * neighbouring panels fill a vector, and codes are unpacked in registers once for up to 12 rows. Sums of codes are exact, and the order of operations in float32 is
 * WebAssembly's, so that the results are the same bits.
 */
import { activationRowBytes, blockLayout, blockPanelBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import type { BlockMatmulRequest } from "../../wasm/kernels/blocks/block-matmul.ts";
import { tileColumns, tileRows } from "../../wasm/kernels/matmul/micro-kernel.ts";
import { Assembler } from "../assembler/assembler.ts";
import type { Label } from "../assembler/code-buffer.ts";
import type { Memory, Register } from "../assembler/operands.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { FewRowsTernaryTile } from "./few-rows-ternary-tile.ts";
import { FewRowsTile } from "./few-rows-tile.ts";
import { WideBlockTile } from "./wide-block-tile.ts";
import { type WideTile, columnMask } from "./wide-tile.ts";
import { WideTernaryTile } from "./wide-ternary-tile.ts";

/** Bytes of a row of a panel in the output. */
const outputBytes = tileColumns * 4;
/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"] as const satisfies readonly Register[];

/** The machine code of a product with quantized weights for AVX-512 VNNI; arguments as `machineBlockMatmul` passes them. */
export function wideBlockMatmul(request: BlockMatmulRequest): MachineFunction {
  return new WideBlockMatmul(request).emit();
}

/**
 * Generates the loops over panels and rows. Arguments: rdi a, rsi b, rdx bias, rcx residual, r8 c, r9 number of panels; on the stack the number of row
 * blocks of 4.
 */
class WideBlockMatmul {
  readonly #asm = new Assembler({ bits: 512, hasEvex: true });
  readonly #request: BlockMatmulRequest;
  readonly #panelBytes: number;
  readonly #rowBytes: number;
  /** Tiles for fewer than 4 rows, or fewer than 8, and for more. */
  readonly #few: WideTile;
  readonly #many: WideTile;
  readonly #stackBytes: number;
  /** Whether 4 to 7 rows wait for memory, too: codes of 8 bits are more bytes, and need less work. */
  readonly #isBoundByMemory: boolean;

  constructor(request: BlockMatmulRequest) {
    const layout = blockLayout(request.format);
    this.#request = request;
    this.#panelBytes = blockPanelBytes(layout, request.k);
    this.#rowBytes = activationRowBytes(layout, request.k);
    const context = { asm: this.#asm, request, layout, rowBytes: this.#rowBytes, panelBytes: this.#panelBytes };
    const isTernary = layout.depth === 4;
    this.#few = isTernary ? new FewRowsTernaryTile(context) : new FewRowsTile(context);
    this.#many = isTernary ? new WideTernaryTile(context) : new WideBlockTile(context);
    this.#isBoundByMemory = layout.lowBits === 8;
    this.#stackBytes = Math.max(this.#few.stackBytes, this.#many.stackBytes);
  }

  emit(): MachineFunction {
    const asm = this.#asm;
    const hasBlocks = this.#request.m >= tileRows;
    for (const register of saved) asm.push(register);
    asm.add("rsp", -this.#stackBytes);
    const [many, end] = [asm.label(), asm.label()];
    if (hasBlocks && this.#isBoundByMemory) {
      asm.load("r11", this.#rowBlocks);
      asm.integer("cmp", "r11", 1);
      asm.jump(many, "a");
    }
    if (!hasBlocks || this.#isBoundByMemory) this.#emitFewRows(hasBlocks);
    if (hasBlocks) {
      if (this.#isBoundByMemory) asm.jump(end);
      asm.bind(many);
      this.#emitManyRows(end);
      asm.bind(end);
    }
    asm.add("rsp", this.#stackBytes);
    for (const register of saved.toReversed()) asm.pop(register);
    asm.return();
    return asm.machineFunction;
  }

  /** Few rows, panel by panel. */
  #emitFewRows(hasBlocks: boolean): void {
    const asm = this.#asm;
    this.#few.emitConstants();
    asm.loadImmediate("rax", 0xff);
    asm.vector("kmovw", columnMask, "rax");
    asm.countDown("r9", () => {
      this.#emitFirstRow();
      if (hasBlocks) this.#emitTile(this.#few, tileRows);
      this.#emitTail(this.#few);
      this.#emitNextPanels(1);
    });
  }

  /** Rows in tiles of up to 12, by pairs of panels. A single last panel is read twice, and stored once. */
  #emitManyRows(end: Label): void {
    const asm = this.#asm;
    const [single, chosen] = [asm.label(), asm.label()];
    this.#many.emitConstants();
    const start = asm.here();
    asm.integer("cmp", "r9", 2);
    asm.jump(single, "b");
    asm.loadImmediate("r12", this.#panelBytes);
    asm.loadImmediate("rax", 0xffff);
    asm.jump(chosen);
    asm.bind(single);
    asm.loadImmediate("r12", 0);
    asm.loadImmediate("rax", 0xff);
    asm.bind(chosen);
    asm.vector("kmovw", columnMask, "rax");
    this.#emitFirstRow();
    asm.load("r11", this.#rowBlocks);
    emitRowBlocks(asm, (rows) => this.#emitTile(this.#many, rows));
    this.#emitTail(this.#many);
    this.#emitNextPanels(2);
    asm.integer("sub", "r9", 2);
    asm.jump(end, "be");
    asm.jump(start);
  }

  #emitFirstRow(): void {
    this.#asm.move("rbp", "rdi");
    this.#asm.move("rbx", "r8");
    this.#asm.move("r14", "rcx");
  }

  #emitTile(tile: WideTile, rows: number): void {
    tile.emit(rows);
    this.#asm.add("rbp", rows * this.#rowBytes);
    this.#asm.add("rbx", rows * this.#request.n * 4);
    this.#asm.add("r14", rows * this.#request.n * 4);
  }

  #emitTail(tile: WideTile): void {
    const rows = this.#request.m % tileRows;
    if (rows > 0) this.#emitTile(tile, rows);
  }

  #emitNextPanels(count: number): void {
    this.#asm.add("rsi", count * this.#panelBytes);
    for (const register of ["rdx", "rcx", "r8"] as const) this.#asm.add(register, count * outputBytes);
  }

  get #rowBlocks(): Memory {
    const returnAddress = 8;
    return { base: "rsp", displacement: this.#stackBytes + saved.length * 8 + returnAddress };
  }
}

/** Divides r11 blocks of 4 rows into tiles of 12 and 8; one block alone is a tile of 4. */
function emitRowBlocks(asm: Assembler, emitTile: (rows: number) => void): void {
  const [eights, eight, four, end] = [asm.label(), asm.label(), asm.label(), asm.label()];
  const twelves = asm.here();
  asm.integer("cmp", "r11", 12 / tileRows);
  asm.jump(eights, "b");
  asm.integer("cmp", "r11", 16 / tileRows);
  asm.jump(eight, "e");
  emitTile(12);
  asm.integer("sub", "r11", 12 / tileRows);
  asm.jump(twelves);
  asm.bind(eights);
  asm.integer("cmp", "r11", 8 / tileRows);
  asm.jump(four, "b");
  asm.bind(eight);
  emitTile(8);
  asm.integer("sub", "r11", 8 / tileRows);
  asm.jump(eights);
  asm.bind(four);
  asm.test("r11", "r11");
  asm.jump(end, "z");
  emitTile(4);
  asm.bind(end);
}
