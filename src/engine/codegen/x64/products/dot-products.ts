/**
 * Products of few rows with contiguous columns as machine code, such as the scores of one token: what the WebAssembly kernel `batchedMatmul` computes as dot
 * products. Eight columns at a time are read, and their sums run along k in vectors; lanes are added in another order than WebAssembly adds them.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { type BatchedMatmulRequest, batchedMatmul } from "../../wasm/kernels/matmul/batched-matmul.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Assembler } from "../assembler/assembler.ts";
import type { Memory, Register, Vector } from "../assembler/operands.ts";
import { FloatCode } from "../float-code.ts";
import type { MachineArgument, MachineFunction } from "../machine-kernel.ts";
import { type VectorTarget, openAssembler, vectorTarget } from "../vector-target.ts";
import { TileColumns } from "./store-tile.ts";

/** Registers of the caller that the code keeps. */
const saved = ["rbx", "rbp", "r12"] as const satisfies readonly Register[];
/** Vectors along k in one pass through the loop. */
const maxUnrolled = 8;
/** How far ahead columns are fetched, at least, and the longest columns that are. */
const prefetchBytes = 8192;
const maxPrefetchedBytes = 1024;
const lineBytes = 64;
const columnMask = 3;
const half = { bits: 256 } as const;

/** The machine code for a product of which `isDotProduct` is true; undefined for one without products. */
export function machineDotProducts(request: BatchedMatmulRequest, level: X64Level): MachineFunction | undefined {
  if (request.k === 0) return undefined;
  const { parameters } = batchedMatmul(request);
  const address = (name: string): MachineArgument => ({ kind: "address", operand: parameters.indexOf(name), pieceBytes: 0 });
  return {
    ...new DotProducts(request, vectorTarget(level)).emit(),
    arguments: [address("a"), address("b"), address("c"), { kind: "firstPiece" }, { kind: "pieces" }],
  };
}

/** Registers: rdi A, rsi B, r9 C, rcx number of the piece, r8 pieces that are left; of a piece r10 A, r11 B, r12 C; rbx and rbp run along k, rax counts. */
class DotProducts {
  readonly #request: BatchedMatmulRequest;
  readonly #target: VectorTarget;
  readonly #asm: Assembler;
  readonly #code: FloatCode;
  readonly #sums: readonly Vector[];

  constructor(request: BatchedMatmulRequest, target: VectorTarget) {
    this.#request = request;
    this.#target = target;
    const { asm, vectors } = openAssembler(target);
    this.#asm = asm;
    this.#code = new FloatCode(asm, vectors);
    this.#sums = vectors.takeAll(tileColumns);
  }

  emit(): MachineFunction {
    const asm = this.#asm;
    const { n, k } = this.#request;
    const rest = n % tileColumns;
    for (const register of saved) asm.push(register);
    asm.move("r9", "rdx");
    const tail = new TileColumns(this.#code, k % this.#target.lanes || this.#target.lanes);
    tail.prepare("rax");
    if (rest > 0 && asm.target.hasEvex) {
      asm.loadImmediate("rax", 2 ** rest - 1);
      asm.vector("kmovw", columnMask, "rax");
    }
    const start = asm.here();
    const [isRest, next] = [asm.label(), asm.label()];
    this.#emitAddresses(rest > 0 && n > tileColumns ? isRest : undefined);
    if (n >= tileColumns) this.#emitPanel(tileColumns, tail);
    if (rest > 0) {
      if (n > tileColumns) asm.jump(next);
      asm.bind(isRest);
      this.#emitPanel(rest, tail);
      asm.bind(next);
    }
    asm.add("rcx", 1);
    asm.integer("sub", "r8", 1);
    asm.jump(start, "nz");
    for (const register of saved.toReversed()) asm.pop(register);
    asm.return();
    return asm.machineFunction;
  }

  /** The addresses of a piece. `isRest`: where to go for the last panel of a product. */
  #emitAddresses(isRest: ReturnType<Assembler["label"]> | undefined): void {
    const asm = this.#asm;
    const { n, batch, a, b, c } = this.#request;
    const panels = Math.ceil(n / tileColumns);
    asm.move("rax", "rcx");
    asm.loadImmediate("r10", panels);
    asm.divide("r10");
    asm.move("rbx", "rdx");
    const placed = { r10: ["rdi", a], r11: ["rsi", b], r12: ["r9", c] } as const;
    for (const [to, [from]] of Object.entries(placed) as [keyof typeof placed, (typeof placed)["r10" | "r11" | "r12"]][])
      asm.move(to, from);
    asm.multiply("rdx", "rbx", tileColumns * b.column * floatBytes);
    asm.add("r11", "rdx");
    asm.multiply("rdx", "rbx", tileColumns * floatBytes);
    asm.add("r12", "rdx");
    // The last axis first: its coordinate is the remainder of its size.
    const axes = indices(batch.length).filter((axis) => batch[axis] !== 1);
    for (const axis of axes.toReversed()) {
      const isFirst = axis === axes[0];
      if (!isFirst) {
        asm.loadImmediate("rbp", batch[axis] ?? 1);
        asm.divide("rbp");
      }
      for (const [to, [, strides]] of Object.entries(placed) as [Register, (typeof placed)["r10" | "r11" | "r12"]][]) {
        asm.multiply("rbp", isFirst ? "rax" : "rdx", (strides.batch[axis] ?? 0) * floatBytes);
        asm.add(to, "rbp");
      }
    }
    if (isRest === undefined) return;
    asm.integer("cmp", "rbx", panels - 1);
    asm.jump(isRest, "e");
  }

  #emitPanel(columns: number, tail: TileColumns): void {
    const { m, k, a, b, c, alpha = 1 } = this.#request;
    const asm = this.#asm;
    const { lanes, bytes } = this.#target;
    const columnBytes = b.column * floatBytes;
    if (k * floatBytes <= maxPrefetchedBytes) {
      const panelBytes = columns * columnBytes;
      const ahead = Math.ceil(prefetchBytes / panelBytes) * panelBytes;
      for (const column of indices(columns))
        for (let at = 0; at < k * floatBytes; at += lineBytes)
          asm.prefetch("all", { base: "r11", displacement: ahead + column * columnBytes + at });
    }
    const whole = Math.floor(k / lanes);
    const products = (offset: number, load: (to: Vector, from: Memory) => void, isWhole: boolean): void =>
      this.#code.vectors.with(2, ([factor = 0, loaded = 0]) => {
        load(factor, { base: "rbx", displacement: offset });
        for (const column of indices(columns)) {
          const from = { base: "rbp", displacement: column * columnBytes + offset } as const;
          if (!isWhole) load(loaded, from);
          asm.vector("vfmadd231ps", this.#sums[column] ?? 0, factor, isWhole ? from : loaded);
        }
      });
    for (const row of indices(m)) {
      for (const sum of this.#sums) asm.clear(sum);
      asm.address("rbx", { base: "r10", displacement: row * a.row * floatBytes });
      asm.move("rbp", "r11");
      const unrolled = Math.min(whole, maxUnrolled);
      const vector = (count: number): void => {
        for (const index of indices(count)) products(index * bytes, (to, from) => asm.vector("vmovups", to, from), true);
        for (const register of ["rbx", "rbp"] as const) asm.add(register, count * bytes);
      };
      if (whole > 0) {
        asm.loadImmediate("rax", Math.floor(whole / unrolled));
        asm.countDown("rax", () => vector(unrolled));
        if (whole % unrolled > 0) vector(whole % unrolled);
      }
      if (k % lanes > 0) products(0, (to, from) => tail.load(to, 0, from), false);
      this.#emitJoin();
      const [result = 0] = this.#sums;
      if (alpha !== 1) this.#code.withConstant("vmulps", result, result, alpha);
      this.#emitStore({ base: "r12", displacement: row * c.row * floatBytes }, columns);
    }
  }

  /** Adds the lanes of each sum: the sums of the 8 columns are the lanes of the first register then. */
  #emitJoin(): void {
    const asm = this.#asm;
    const sums = this.#sums;
    if (this.#target.bytes === 64)
      this.#code.vectors.with(1, ([upper = 0]) => {
        for (const sum of sums) {
          asm.vector("vextractf64x4", upper, sum, 1);
          asm.vector("vaddps", sum, sum, upper, half);
        }
      });
    for (const distance of [1, 2])
      for (let first = 0; first < sums.length; first += 2 * distance)
        asm.vector("vhaddps", sums[first] ?? 0, sums[first] ?? 0, sums[first + distance] ?? 0, half);
    const [low = 0, free = 0, , , high = 0] = sums;
    // Both have sums of four columns in their lower and in their upper half.
    asm.vector("vperm2f128", free, low, high, 0x31, half);
    asm.vector("vperm2f128", low, low, high, 0x20, half);
    asm.vector("vaddps", low, low, free, half);
  }

  #emitStore(to: Memory, columns: number): void {
    const asm = this.#asm;
    const [result = 0, mask = 0] = this.#sums;
    if (columns === tileColumns) asm.vector("vmovupsStore", to, result, half);
    else if (asm.target.hasEvex) asm.vector("vmovupsStore", to, result, { ...half, mask: columnMask });
    else {
      asm.vector("vmovups", mask, asm.integers(...indices(tileColumns).map((lane) => (lane < columns ? -1 : 0))), half);
      asm.vector("vmaskmovpsStore", to, mask, result, half);
    }
  }
}
