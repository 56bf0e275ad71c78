/**
 * Products of two computed matrices as machine code: what the WebAssembly kernel `batchedMatmul` computes for a request with panels of 16 columns or few rows, and
 * where that fuses multiplication and addition the same bits. Rows of B are read where they are; other panels are first copied to scratch memory in the order of k.
 */
import { at } from "../../../../contract/checked.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import {
  type BatchedMatmulRequest,
  batchedMatmul,
  batchedPanelColumns,
  batchedTileRows,
  copiesPanels,
  isDotProduct,
} from "../../wasm/kernels/matmul/batched-matmul.ts";
import { widePanelColumns } from "../../wasm/kernels/matmul/weight-packing.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { Memory, Register, Vector } from "../assembler/operands.ts";
import { FloatCode } from "../float-code.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";
import { machineDotProducts } from "./dot-products.ts";
import { emitTileStep } from "./float-tile.ts";
import { emitPanelCopy } from "./panel-copy.ts";
import { emitRowTiles } from "./row-tiles.ts";
import { TileColumns } from "./store-tile.ts";

/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"] as const satisfies readonly Register[];
const returnAddressBytes = 8;
/** Slots of 8 bytes on the stack. */
const slots = { a: 0, b: 8, c: 16, scratch: 24, piece: 32, left: 40, panel: 48 } as const;
const slotBytes = 56;
/** The dynamic sizes of the kernel before those of the batch, in their order. */
const sizeNames = ["rowBlocks", "panels", "depth", "aRow", "cRow"] as const;
/** k of one pass through the loop of a tile. */
const unrolled = 4;
/** Up to this many rows, rows of B are read where they are in panels of any width. */
const maxFewRows = 3;
/** How far ahead B is fetched for few rows, at least, and the longest rows of B that are. */
const prefetchBytes = 8192;
const maxRowBytes = 4096;
const lineBytes = 64;

/** The machine code for a product; undefined for integers, for no products at all, and for narrow panels of many rows. */
export function machineBatchedMatmul(request: BatchedMatmulRequest, level: X64Level): MachineFunction | undefined {
  const { m, k, type = "float32", panelColumns } = request;
  if (type !== "float32" || k === 0) return undefined;
  if (isDotProduct(request)) return machineDotProducts(request, level);
  if (panelColumns !== widePanelColumns && (m > maxFewRows || copiesPanels(request))) return undefined;
  const { parameters, dynamicSizes, scratchBytes } = batchedMatmul(request);
  const address = (name: string): MachineArgument => ({
    kind: "address",
    operand: dynamicSizes.length + parameters.indexOf(name),
    pieceBytes: 0,
  });
  return {
    ...new BatchedCode(request, vectorTarget(level)).emit(),
    arguments: [
      address("a"),
      address("b"),
      address("c"),
      scratchBytes > 0 ? address("scratch") : { kind: "none" },
      { kind: "firstPiece" },
      { kind: "pieces" },
      ...dynamicSizes.map((_, operand): MachineArgument => ({ kind: "operand", operand })),
    ],
  };
}

/**
 * Emits the function. In the loop over rows: rdi A, rsi B, rdx C, r9 rows that are left, r14 and r15 once and three times the distance of rows of A, r8 that of
 * rows of C.
 */
class BatchedCode {
  readonly #request: BatchedMatmulRequest;
  readonly #target: VectorTarget;
  readonly #asm: Assembler;
  readonly #code: FloatCode;
  /** Columns of a panel. */
  readonly #width: number;

  constructor(request: BatchedMatmulRequest, target: VectorTarget) {
    this.#request = request;
    this.#width = batchedPanelColumns(request);
    this.#target = target;
    const { asm, vectors } = openAssembler(target);
    this.#asm = asm;
    this.#code = new FloatCode(asm, vectors);
  }

  emit(): MachineFunction {
    const asm = this.#asm;
    const { n } = this.#request;
    for (const register of saved) asm.push(register);
    asm.add("rsp", -slotBytes);
    const given = { a: "rdi", b: "rsi", c: "rdx", scratch: "rcx", piece: "r8", left: "r9" } as const;
    for (const name of ["a", "b", "c", "scratch", "piece", "left"] as const) asm.store(getSlot(name), given[name]);
    const start = asm.here();
    this.#emitAddresses();
    const rest = n % this.#width;
    const [isRest, end] = [asm.label(), asm.label()];
    if (rest > 0 && n > this.#width) {
      asm.load("rax", getSlot("panel"));
      asm.add("rax", 1);
      asm.integer("cmp", "rax", this.#size("panels"));
      asm.jump(isRest, "e");
    }
    if (n >= this.#width) this.#emitPanel(this.#width);
    if (rest > 0 && n > this.#width) asm.jump(end);
    asm.bind(isRest);
    if (rest > 0) this.#emitPanel(rest);
    asm.bind(end);
    asm.load("rax", getSlot("piece"));
    asm.add("rax", 1);
    asm.store(getSlot("piece"), "rax");
    asm.load("rax", getSlot("left"));
    asm.add("rax", -1);
    asm.store(getSlot("left"), "rax");
    asm.jump(start, "nz");
    asm.add("rsp", slotBytes);
    for (const register of saved.toReversed()) asm.pop(register);
    asm.return();
    return asm.machineFunction;
  }

  /** Bytes of a row of a panel. */
  get #rowBytes(): number {
    return this.#width * floatBytes;
  }

  /** A dynamic size of the kernel. */
  #size(name: (typeof sizeNames)[number]): Memory {
    return getArgument(sizeNames.indexOf(name));
  }

  /** The matrices of a piece: r12 A, rsi B from the first column of the panel on, r13 C likewise. */
  #emitAddresses(): void {
    const asm = this.#asm;
    const { batch, b } = this.#request;
    const axes = batch.length;
    asm.load("rax", getSlot("piece"));
    asm.divide(this.#size("panels"));
    asm.store(getSlot("panel"), "rdx");
    asm.load("r12", getSlot("a"));
    asm.load("rsi", getSlot("b"));
    asm.load("r13", getSlot("c"));
    asm.multiply("r10", "rdx", this.#rowBytes * b.column);
    asm.integer("add", "rsi", "r10");
    asm.multiply("r10", "rdx", this.#rowBytes);
    asm.integer("add", "r13", "r10");
    // The last axis first: its coordinate is the remainder of its size.
    for (const axis of indices(axes).toReversed()) {
      if (axis > 0) asm.divide(getArgument(sizeNames.length + axis));
      const coordinate = axis > 0 ? "rdx" : "rax";
      for (const [operand, register] of (["r12", "rsi", "r13"] as const).entries()) {
        asm.load("r10", getArgument(sizeNames.length + (1 + operand) * axes + axis));
        asm.multiply("r10", "r10", coordinate);
        asm.address(register, { base: register, index: "r10", scale: floatBytes, displacement: 0 });
      }
    }
  }

  #emitPanel(columnCount: number): void {
    const asm = this.#asm;
    const { m, b } = this.#request;
    const copies = b.column !== 1;
    if (copies) {
      asm.load("rdi", getSlot("scratch"));
      asm.load("r10", this.#size("depth"));
      emitPanelCopy(this.#code, {
        columns: columnCount,
        rowStride: b.row,
        columnStride: b.column,
        registers: { from: "rsi", to: "rdi", depth: "r10", free: "rax" },
      });
      asm.load("rsi", getSlot("scratch"));
    }
    const columns = new TileColumns(this.#code, columnCount);
    columns.prepare("rax");
    const rowsOfBlock = batchedTileRows(this.#request);
    asm.load("rax", this.#size("rowBlocks"));
    asm.multiply("r9", "rax", rowsOfBlock);
    asm.add("r9", m % rowsOfBlock);
    asm.move("rdi", "r12");
    asm.move("rdx", "r13");
    asm.load("r14", this.#size("aRow"));
    asm.shift("shl", "r14", Math.log2(floatBytes));
    asm.address("r15", { base: "r14", index: "r14", scale: 2, displacement: 0 });
    asm.load("r8", this.#size("cRow"));
    asm.shift("shl", "r8", Math.log2(floatBytes));
    const tileRows = this.#target.registers === 32 ? 12 : 6;
    const known = m < rowsOfBlock ? m : undefined;
    emitRowTiles(asm, { rows: "r9", tileRows, canBeOdd: m % 2 === 1, known }, (rows) =>
      this.#emitTile(rows, columns, copies ? this.#rowBytes : b.row * floatBytes),
    );
  }

  /** A tile; moves the addresses on to the next. Three registers are at every fourth row of A. */
  #emitTile(rows: number, columns: TileColumns, bDepthBytes: number): void {
    const { asm, vectors } = this.#code;
    const { a, b, alpha = 1 } = this.#request;
    const sums = indices(rows).map(() => vectors.takeAll(columns.vectors));
    for (const sum of sums.flat()) asm.clear(sum);
    const bases = (["rax", "rbx", "rcx"] as const).slice(0, Math.ceil(rows / 4));
    for (const [index, base] of bases.entries()) {
      if (index === 0) asm.move(base, "rdi");
      else asm.address(base, { base: at(bases, index - 1), index: "r14", scale: 4, displacement: 0 });
    }
    asm.move("rbp", "rsi");
    const step = (k: number): void =>
      emitTileStep(this.#code, sums, {
        factor: (row) => ({
          base: at(bases, row >> 2),
          displacement: k * a.column * floatBytes,
          ...(row % 4 === 0 ? {} : { index: row % 4 === 3 ? "r15" : "r14", scale: row % 4 === 2 ? 2 : 1 }),
        }),
        columns: (vector) => ({ base: "rbp", displacement: k * bDepthBytes + vector * this.#target.bytes }),
        // Copied panels are whole.
        ...(b.column === 1 ? { load: (to: Vector, vector: number, from: Memory) => columns.load(to, vector, from) } : {}),
      });
    this.#emitDepth((count) => {
      for (const k of indices(count)) {
        if (this.#request.m <= maxFewRows && bDepthBytes <= maxRowBytes) this.#emitPrefetch(columns, bDepthBytes, k);
        step(k);
      }
      for (const base of bases) asm.add(base, count * a.column * floatBytes);
      asm.add("rbp", count * bDepthBytes);
    });
    for (const row of sums) {
      for (const [vector, sum] of row.entries()) {
        if (alpha !== 1) this.#code.withConstant("vmulps", sum, sum, alpha);
        columns.store({ base: "rdx", displacement: vector * this.#target.bytes }, vector, sum);
      }
      asm.integer("add", "rdx", "r8");
    }
    asm.multiply("rax", "r14", rows);
    asm.integer("add", "rdi", "rax");
    for (const row of sums.toReversed()) vectors.release(...row.toReversed());
  }

  /** Fetches the columns of a later row of B. Each is used once, so that the product waits for memory. */
  #emitPrefetch({ vectors }: TileColumns, bDepthBytes: number, k: number): void {
    const ahead = (Math.ceil(prefetchBytes / bDepthBytes) + k) * bDepthBytes;
    for (let at = 0; at < vectors * this.#target.bytes; at += lineBytes)
      this.#asm.prefetch("all", { base: "rbp", displacement: ahead + at });
  }

  /** Passes through several k, then through single ones. */
  #emitDepth(pass: (count: number) => void): void {
    const asm = this.#asm;
    for (const count of [unrolled, 1]) {
      const skip = asm.label();
      asm.load("r10", this.#size("depth"));
      if (count === 1) asm.integer("and", "r10", unrolled - 1);
      else asm.shift("shr", "r10", Math.log2(unrolled));
      asm.test("r10", "r10");
      asm.jump(skip, "z");
      asm.countDown("r10", () => pass(count));
      asm.bind(skip);
    }
  }
}

function getSlot(name: keyof typeof slots): Memory {
  return { base: "rsp", displacement: slots[name] };
}

/** An argument on the stack: a dynamic size. */
function getArgument(index: number): Memory {
  return { base: "rsp", displacement: slotBytes + saved.length * 8 + returnAddressBytes + 8 * index };
}
