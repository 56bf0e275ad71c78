/** The loops around the tiles of a product with packed weights, and the function that holds them. */
import { type Tiling } from "../../wasm/kernels/matmul/tiling.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Kernel } from "../../wasm/kernel.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { Memory, Register } from "../assembler/operands.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";
import { emitRowTiles } from "./row-tiles.ts";

/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"] as const satisfies readonly Register[];
const returnAddressBytes = 8;

/** Slots of 8 bytes on the stack. */
const slots = { isLast: 0, rowsLeft: 8, a: 16, b: 24, bias: 32, c: 40, residual: 48 } as const;
const slotBytes = 56;
/** Offsets of the arguments on the stack, after those in rdi, rsi, rdx, rcx, r8 and r9. */
const stackArguments = { pieces: 0, rowBlocks: 8, scales: 16, aScale: 24 } as const;

/** Sizes of a product, and how it is divided. All distances are in bytes. */
export interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly tiling: Tiling;
  readonly aRowBytes: number;
  readonly panelBytes: number;
  /** Numbers of panels that a tile takes, descending; the last is 1. */
  readonly groups: readonly number[];
  /** Rows of the largest tile. */
  readonly tileRows: number;
  /** Whether the weights have a scale for each column. Default: false. */
  readonly hasColumnScales?: boolean;
}

/** The number of rows where all pieces have all rows and they are few; otherwise undefined. */
export function knownRows(m: number, { splitsColumns }: Tiling): number | undefined {
  return m < 4 && splitsColumns ? m : undefined;
}

/** The arguments of the function for a kernel with these operands, which has one dynamic size, the number of row blocks. */
export function productArguments(
  { parameters, dynamicSizes }: Kernel,
  { n, tiling, aRowBytes, panelBytes, hasColumnScales = false }: ProductShape,
): readonly MachineArgument[] {
  const { splitsColumns, rowsPerTile, panelColumns } = tiling;
  const columnBytes = splitsColumns ? panelColumns * floatBytes : 0;
  const outputBytes = splitsColumns ? columnBytes : rowsPerTile * n * floatBytes;
  const address = (name: string, pieceBytes: number): MachineArgument => {
    const index = parameters.indexOf(name);
    return index < 0 ? { kind: "none" } : { kind: "address", operand: dynamicSizes.length + index, pieceBytes };
  };
  return [
    address("a", splitsColumns ? 0 : rowsPerTile * aRowBytes),
    address("b", splitsColumns ? panelBytes : 0),
    address("c", outputBytes),
    address("bias", columnBytes),
    address("residual", outputBytes),
    { kind: "firstPiece" },
    { kind: "pieces" },
    { kind: "operand", operand: 0 },
    address("bScale", hasColumnScales ? columnBytes : 0),
    address("aScale", 0),
  ];
}

/**
 * What a tile reads. Registers: rdi A, rsi B, rdx C, rcx bias, rbp scales of the columns, r8 residual. It may change rax, rbx, r10 and all vectors.
 * `aScale` and `bScale` are where the addresses of the scales of A and B are.
 */
export interface TilePlace {
  readonly columns: number;
  readonly aScale: Memory;
  readonly bScale: Memory;
}

/** Generates code for a group of panels: what is done once for all rows, and a tile of so many rows. */
export type TileGenerator = (place: TilePlace) => { readonly prepare: () => void; readonly tile: (rows: number) => void };

/**
 * Emits the function. In the loop over panels: rsi B, rcx bias, rbp scales, r12 A, r13 C, r14 residual of the first row, r15 number of rows, r11 number of
 * panels. In the loop over rows: rdi A, rdx C, r8 residual, r9 rows that are left.
 */
export class ProductLoops {
  readonly #asm: Assembler;
  readonly #shape: ProductShape;
  readonly #generate: TileGenerator;

  constructor(asm: Assembler, shape: ProductShape, generate: TileGenerator) {
    this.#asm = asm;
    this.#shape = shape;
    this.#generate = generate;
  }

  emit(): MachineFunction {
    const asm = this.#asm;
    const { n, tiling, hasColumnScales } = this.#shape;
    for (const register of saved) asm.push(register);
    asm.add("rsp", -slotBytes);
    asm.load("r11", getArgument("pieces"));
    asm.load("rax", getArgument("rowBlocks"));
    if (tiling.splitsColumns) {
      this.#loadRows("r15", "rax");
      asm.move("r12", "rdi");
      asm.move("r13", "rdx");
      asm.move("r14", "r8");
      if (hasColumnScales === true) asm.load("rbp", getArgument("scales"));
      // The last panel, which may be partial, is the last piece.
      asm.integer("add", "r9", "r11");
      asm.add("r9", -Math.ceil(n / tiling.panelColumns));
      asm.store(getSlot("isLast"), "r9");
      this.#emitPanels();
    } else this.#emitRowChunks();
    asm.add("rsp", slotBytes);
    for (const register of saved.toReversed()) asm.pop(register);
    asm.return();
    return asm.machineFunction;
  }

  /** Rows of the whole product, from the number of row blocks. */
  #loadRows(to: Register, rowBlocks: Register): void {
    const { m, tiling } = this.#shape;
    this.#asm.multiply(to, rowBlocks, tiling.rowsPerTile);
    this.#asm.add(to, m % tiling.rowsPerTile);
  }

  /** Pieces are blocks of rows. All panels are computed for some rows, as many as fit the cache, then for the next. */
  #emitRowChunks(): void {
    const asm = this.#asm;
    const { n, tiling, aRowBytes, hasColumnScales } = this.#shape;
    const { rowsPerTile, blockRows, panelColumns } = tiling;
    // The rows of the pieces: the last may have fewer.
    this.#loadRows("r15", "rax");
    asm.multiply("rax", "r9", -rowsPerTile);
    asm.integer("add", "r15", "rax");
    asm.multiply("rax", "r11", rowsPerTile);
    asm.integer("cmp", "rax", "r15");
    asm.moveIf("l", "r15", "rax");
    asm.store(getSlot("rowsLeft"), "r15");
    const given = { a: "rdi", b: "rsi", bias: "rcx", c: "rdx", residual: "r8" } as const;
    for (const name of ["a", "b", "bias", "c", "residual"] as const) asm.store(getSlot(name), given[name]);
    asm.loadImmediate("rax", 0);
    asm.store(getSlot("isLast"), "rax");
    const start = asm.here();
    asm.load("r15", getSlot("rowsLeft"));
    asm.loadImmediate("rax", blockRows);
    asm.integer("cmp", "rax", "r15");
    asm.moveIf("l", "r15", "rax");
    const used = { a: "r12", b: "rsi", bias: "rcx", c: "r13", residual: "r14" } as const;
    for (const name of ["a", "b", "bias", "c", "residual"] as const) asm.load(used[name], getSlot(name));
    if (hasColumnScales === true) asm.load("rbp", getArgument("scales"));
    asm.loadImmediate("r11", Math.ceil(n / panelColumns));
    this.#emitPanels();
    const advance = (name: keyof typeof slots, rowBytes: number): void => {
      asm.multiply("rax", "r15", rowBytes);
      asm.integer("add", "rax", getSlot(name));
      asm.store(getSlot(name), "rax");
    };
    advance("a", aRowBytes);
    advance("c", n * floatBytes);
    advance("residual", n * floatBytes);
    advance("rowsLeft", -1);
    asm.test("rax", "rax");
    asm.jump(start, "nz");
  }

  /** The loops over panels: groups, then single panels, then the partial one. */
  #emitPanels(): void {
    const asm = this.#asm;
    const { n, tiling, panelBytes, groups, hasColumnScales } = this.#shape;
    const { panelColumns } = tiling;
    const rest = n % panelColumns;
    const hasWhole = n >= panelColumns;
    if (rest > 0 && hasWhole) {
      const without = this.#unlessLast();
      asm.add("r11", -1);
      asm.bind(without);
    }
    for (const panels of hasWhole ? groups : []) {
      const end = asm.label();
      const start = asm.here();
      asm.integer("cmp", "r11", panels);
      asm.jump(end, "l");
      this.#emitRows(panels * panelColumns);
      asm.add("rsi", panels * panelBytes);
      for (const register of ["rcx", "r13", "r14"] as const) asm.add(register, panels * panelColumns * floatBytes);
      if (hasColumnScales === true) asm.add("rbp", panels * panelColumns * floatBytes);
      asm.add("r11", -panels);
      asm.jump(start);
      asm.bind(end);
    }
    if (rest === 0) return;
    const without = hasWhole ? this.#unlessLast() : asm.label();
    this.#emitRows(rest);
    asm.bind(without);
  }

  /** Jumps to the label unless the pieces include the last panel. */
  #unlessLast(): ReturnType<Assembler["label"]> {
    const without = this.#asm.label();
    this.#asm.load("rax", getSlot("isLast"));
    this.#asm.test("rax", "rax");
    this.#asm.jump(without, "nz");
    return without;
  }

  #emitRows(columns: number): void {
    const asm = this.#asm;
    const { m, n, tiling, aRowBytes, tileRows } = this.#shape;
    const { prepare, tile } = this.#generate({ columns, aScale: getArgument("aScale"), bScale: getArgument("scales") });
    prepare();
    asm.move("rdi", "r12");
    asm.move("rdx", "r13");
    asm.move("r8", "r14");
    asm.move("r9", "r15");
    const known = knownRows(m, tiling);
    emitRowTiles(asm, { rows: "r9", tileRows: Math.max(2, tileRows), canBeOdd: m % 2 === 1, known }, (rows) => {
      tile(rows);
      asm.add("rdi", rows * aRowBytes);
      asm.add("rdx", rows * n * floatBytes);
      asm.add("r8", rows * n * floatBytes);
    });
  }
}

function getSlot(name: keyof typeof slots): Memory {
  return { base: "rsp", displacement: slots[name] };
}

function getArgument(name: keyof typeof stackArguments): Memory {
  return { base: "rsp", displacement: slotBytes + saved.length * 8 + returnAddressBytes + stackArguments[name] };
}
