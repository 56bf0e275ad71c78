/**
 * Linear layers as machine code: what the WebAssembly kernel `matmul` computes for a request with panels of 16 columns, and where that fuses multiplication and
 * addition the same bits. The outer loop runs over groups of panels, which stay in the L2 cache, the inner one over tiles of rows.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { type MatmulRequest, matmul, matmulTiling } from "../../wasm/kernels/matmul/matmul.ts";
import { widePanelColumns } from "../../wasm/kernels/matmul/weight-packing.ts";
import { floatBytes } from "../../wasm/kernels/loops/lanes.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { Memory, Register } from "../assembler/operands.ts";
import { FloatCode } from "../math/float-code.ts";
import type { MachineArgument, MachineKernel } from "../machine-kernel.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";
import { emitFloatTile } from "./float-tile.ts";
import { emitRowTiles } from "./row-tiles.ts";
import { TileColumns, emitStoreTile } from "./store-tile.ts";

/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"] as const satisfies readonly Register[];
const panelRowBytes = widePanelColumns * floatBytes;
const returnAddressBytes = 8;

/** Slots of 8 bytes on the stack. */
const slots = { isLast: 0, rowsLeft: 8, a: 16, b: 24, bias: 32, c: 40, residual: 48 } as const;
const slotBytes = 56;
/** Arguments on the stack, after those in rdi, rsi, rdx, rcx, r8 and r9. */
const stackArguments = { pieces: 0, rowBlocks: 8 } as const;

/** The machine code for a product; undefined for weights in panels that vectors of this width do not fill. */
export function machineMatmul(request: MatmulRequest, level: X64Level): MachineKernel | undefined {
  if (request.panelColumns !== widePanelColumns) return undefined;
  const { n, k } = request;
  const { key, parameters, dynamicSizes } = matmul(request);
  const { splitsColumns, rowsPerTile } = matmulTiling(request);
  const [aPiece, cPiece, panelPiece] = splitsColumns
    ? [0, panelRowBytes, panelRowBytes]
    : [rowsPerTile * k * floatBytes, rowsPerTile * n * floatBytes, 0];
  const address = (name: string, pieceBytes: number): MachineArgument => {
    const index = parameters.indexOf(name);
    return index < 0 ? { kind: "none" } : { kind: "address", operand: dynamicSizes.length + index, pieceBytes };
  };
  return {
    key,
    level,
    code: new MatmulCode(request, vectorTarget(level)).emit(),
    arguments: [
      address("a", aPiece),
      address("b", splitsColumns ? k * panelRowBytes : 0),
      address("c", cPiece),
      address("bias", panelPiece),
      address("residual", cPiece),
      { kind: "firstPiece" },
      { kind: "pieces" },
      { kind: "operand", operand: 0 }, // row blocks, the one dynamic size
    ],
  };
}

/** Rows of a tile, and the panels that it takes. */
interface TileShape {
  readonly rows: number;
  readonly panels: number;
}

/** The number of rows where all pieces have all rows and a tile holds them; otherwise undefined. */
function knownRows(request: MatmulRequest): number | undefined {
  return request.m < 4 && matmulTiling(request).splitsColumns ? request.m : undefined;
}

/** The shapes of tiles: sums, columns and factors fill the registers. For few rows more panels give enough independent sums. */
function tileShape(request: MatmulRequest, { registers }: VectorTarget): TileShape {
  const m = knownRows(request) ?? Number.POSITIVE_INFINITY;
  if (registers === 32) {
    if (m === 1) return { rows: 1, panels: 8 };
    return m < 4 ? { rows: m, panels: m === 2 ? 6 : 5 } : { rows: 8, panels: 3 };
  }
  if (m === 1) return { rows: 1, panels: 5 };
  return m < 4 ? { rows: m, panels: m === 2 ? 3 : 2 } : { rows: 6, panels: 1 };
}

/**
 * Emits the function. In the loop over panels: rsi B, rcx bias, r12 A, r13 C, r14 residual of the first row, r15 number of rows, r11 number of panels. In the loop
 * over rows: rdi A, rdx C, r8 residual, r9 rows that are left.
 */
class MatmulCode {
  readonly #request: MatmulRequest;
  readonly #target: VectorTarget;
  readonly #asm: Assembler;
  readonly #code: FloatCode;
  readonly #tile: TileShape;

  constructor(request: MatmulRequest, target: VectorTarget) {
    this.#request = request;
    this.#target = target;
    const { asm, vectors } = openAssembler(target);
    this.#asm = asm;
    this.#code = new FloatCode(asm, vectors);
    this.#tile = tileShape(request, target);
  }

  emit(): Uint8Array<ArrayBuffer> {
    const asm = this.#asm;
    const { n } = this.#request;
    for (const register of saved) asm.push(register);
    asm.add("rsp", -slotBytes);
    const argument = (offset: number): Memory => ({
      base: "rsp",
      displacement: slotBytes + saved.length * 8 + returnAddressBytes + offset,
    });
    asm.load("r11", argument(stackArguments.pieces));
    asm.load("rax", argument(stackArguments.rowBlocks));
    if (matmulTiling(this.#request).splitsColumns) {
      this.#loadRows("r15", "rax");
      asm.move("r12", "rdi");
      asm.move("r13", "rdx");
      asm.move("r14", "r8");
      // The last panel, which may be partial, is the last piece.
      asm.integer("add", "r9", "r11");
      asm.add("r9", -Math.ceil(n / widePanelColumns));
      asm.store(this.#slot("isLast"), "r9");
      this.#emitPanels();
    } else this.#emitRowChunks();
    asm.add("rsp", slotBytes);
    for (const register of saved.toReversed()) asm.pop(register);
    asm.return();
    return asm.code;
  }

  #slot(name: keyof typeof slots): Memory {
    return { base: "rsp", displacement: slots[name] };
  }

  /** Rows of the whole product, from the number of row blocks. */
  #loadRows(to: Register, rowBlocks: Register): void {
    const { m } = this.#request;
    const { rowsPerTile } = matmulTiling(this.#request);
    this.#asm.multiply(to, rowBlocks, rowsPerTile);
    this.#asm.add(to, m % rowsPerTile);
  }

  /** Pieces are blocks of rows. All panels are computed for some rows, as many as fit the cache, then for the next. */
  #emitRowChunks(): void {
    const asm = this.#asm;
    const { n, k } = this.#request;
    const { rowsPerTile, blockRows } = matmulTiling(this.#request);
    // The rows of the pieces: the last may have fewer.
    this.#loadRows("r15", "rax");
    asm.multiply("rax", "r9", -rowsPerTile);
    asm.integer("add", "r15", "rax");
    asm.multiply("rax", "r11", rowsPerTile);
    asm.integer("cmp", "rax", "r15");
    asm.moveIf("l", "r15", "rax");
    asm.store(this.#slot("rowsLeft"), "r15");
    for (const [name, register] of [
      ["a", "rdi"],
      ["b", "rsi"],
      ["bias", "rcx"],
      ["c", "rdx"],
      ["residual", "r8"],
    ] as const)
      asm.store(this.#slot(name), register);
    asm.loadImmediate("rax", 0);
    asm.store(this.#slot("isLast"), "rax");
    const start = asm.here();
    asm.load("r15", this.#slot("rowsLeft"));
    asm.loadImmediate("rax", blockRows);
    asm.integer("cmp", "rax", "r15");
    asm.moveIf("l", "r15", "rax");
    for (const [name, register] of [
      ["a", "r12"],
      ["b", "rsi"],
      ["bias", "rcx"],
      ["c", "r13"],
      ["residual", "r14"],
    ] as const)
      asm.load(register, this.#slot(name));
    asm.loadImmediate("r11", Math.ceil(n / widePanelColumns));
    this.#emitPanels();
    const advance = (name: keyof typeof slots, rowBytes: number): void => {
      asm.multiply("rax", "r15", rowBytes);
      asm.integer("add", "rax", this.#slot(name));
      asm.store(this.#slot(name), "rax");
    };
    advance("a", k * floatBytes);
    advance("c", n * floatBytes);
    advance("residual", n * floatBytes);
    advance("rowsLeft", -1);
    asm.test("rax", "rax");
    asm.jump(start, "nz");
  }

  /** The loops over panels: groups, then single panels, then the partial one. */
  #emitPanels(): void {
    const asm = this.#asm;
    const { n, k } = this.#request;
    const rest = n % widePanelColumns;
    const hasWhole = n >= widePanelColumns;
    if (rest > 0 && hasWhole) {
      const without = asm.label();
      asm.load("rax", this.#slot("isLast"));
      asm.test("rax", "rax");
      asm.jump(without, "nz");
      asm.add("r11", -1);
      asm.bind(without);
    }
    if (hasWhole)
      for (const panels of this.#tile.panels > 1 ? [this.#tile.panels, 1] : [1]) {
        const end = asm.label();
        const start = asm.here();
        asm.integer("cmp", "r11", panels);
        asm.jump(end, "l");
        this.#emitRows(panels * widePanelColumns);
        asm.add("rsi", panels * k * panelRowBytes);
        for (const register of ["rcx", "r13", "r14"] as const) asm.add(register, panels * panelRowBytes);
        asm.add("r11", -panels);
        asm.jump(start);
        asm.bind(end);
      }
    if (rest === 0) return;
    const without = asm.label();
    if (hasWhole) {
      asm.load("rax", this.#slot("isLast"));
      asm.test("rax", "rax");
      asm.jump(without, "nz");
    }
    this.#emitRows(rest);
    asm.bind(without);
  }

  #emitRows(columns: number): void {
    const asm = this.#asm;
    const { m, n, k, bias = false, activation = "none", residual = "none" } = this.#request;
    const tileColumns = new TileColumns(this.#code, columns);
    const { lanes } = this.#target;
    const panelVectors = widePanelColumns / lanes;
    const panelBytes = k * panelRowBytes;
    tileColumns.prepare("rax");
    asm.move("rdi", "r12");
    asm.move("rdx", "r13");
    asm.move("r8", "r14");
    asm.move("r9", "r15");
    const { rows: tileRows } = this.#tile;
    const known = knownRows(this.#request);
    emitRowTiles(asm, { rows: "r9", tileRows: Math.max(2, tileRows), canBeOdd: m % 2 === 1, known }, (rows) => {
      emitFloatTile(
        this.#code,
        {
          rows,
          vectors: tileColumns.vectors,
          depth: k,
          a: "rdi",
          b: "rsi",
          aNext: "rax",
          bNext: "rbx",
          counter: "r10",
          aRowBytes: k * floatBytes,
          aDepthBytes: floatBytes,
          bDepthBytes: panelRowBytes,
          bVectorBytes: (vector) => Math.floor(vector / panelVectors) * panelBytes + (vector % panelVectors) * lanes * floatBytes,
          start: (to, _row, vector) => {
            if (bias) tileColumns.load(to, vector, { base: "rcx", displacement: vector * lanes * floatBytes });
            else asm.clear(to);
          },
        },
        (sums) =>
          emitStoreTile(this.#code, {
            sums,
            columns: tileColumns,
            activation,
            residual,
            c: "rdx",
            residualAt: "r8",
            free: ["r10", "rax", "rbx"],
            rowBytes: n * floatBytes,
          }),
      );
      asm.add("rdi", rows * k * floatBytes);
      asm.add("rdx", rows * n * floatBytes);
      asm.add("r8", rows * n * floatBytes);
    });
  }
}
