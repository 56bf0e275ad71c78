/**
 * Windows that slide over one plane after the other, as machine code: depthwise convolution and pooling in float32, on the pieces of the WebAssembly kernels. Planes
 * are copied to scratch memory first, see `PlaneLayout`. A tile has the positions of some neighbouring vectors in some rows, which read each weight together.
 */
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import { isUnrolled } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { RegisterPool } from "../assembler/register-pool.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import { activationProgram } from "../lanewise/activation.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";
import type { LaneProgram } from "../lanewise/lane-program.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { PlaneLayout, emitPlaneCopy, fillPlane } from "./plane-layout.ts";
import type { WindowFunction } from "../../wasm/kernels/convolution/window-function.ts";

/** Sums of a tile. They leave 7 registers in VEX, which the weights and activations need. */
const maxSums = 8;
/** Rows of a tile for a window of many taps, whose code is written out for each row. */
const maxUnrolledSums = 392;
const maxStride = 2;
const maxPlaneBytes = 2 ** 28;
const orderedComparison = 7;
const unorderedComparison = 3;

/** Whether there is machine code for windows. */
function hasWindowFunction({ window }: WindowFunction): boolean {
  const isEmpty = window.input[0] * window.input[1] * window.output[0] * window.output[1] === 0;
  return isUnrolled(window) && window.strides[1] <= maxStride && !isEmpty && new PlaneLayout(window).bytes < maxPlaneBytes;
}

/** Bytes of scratch memory of a window function; 0 where there is no machine code. */
export function windowFunctionScratchBytes(given: WindowFunction): number {
  return hasWindowFunction(given) ? new PlaneLayout(given.window).bytes : 0;
}

/** Generates a function of x, then weights and bias if there are any, y, scratch, the first plane and the end of the planes. */
export function machineWindow(given: WindowFunction, level: X64Level): MachineFunction | undefined {
  return hasWindowFunction(given) ? new SlidingWindowFunction(given, level).emit() : undefined;
}

/** Registers in the loop over planes: rbx planes that are left, r13 input, r14 output, rbp weights, r12 bias, r15 channel. */
class SlidingWindowFunction {
  readonly #unit: VectorUnit;
  readonly #frame: FunctionFrame;
  readonly #given: WindowFunction;
  readonly #layout: PlaneLayout;
  readonly #activation: LaneProgram | undefined;

  constructor(given: WindowFunction, level: X64Level) {
    this.#given = given;
    this.#unit = new VectorUnit(level);
    this.#frame = new FunctionFrame(this.#unit.asm);
    this.#layout = new PlaneLayout(given.window);
    this.#activation = given.compute.kind === "weights" ? activationProgram(given.compute.activation) : undefined;
  }

  #argument(name: "x" | "weights" | "bias" | "y" | "scratch" | "from" | "to"): Memory {
    const { compute } = this.#given;
    const hasWeights = compute.kind === "weights";
    const names = [
      "x",
      ...(hasWeights ? ["weights"] : []),
      ...(hasWeights && compute.bias ? ["bias"] : []),
      "y",
      "scratch",
      "from",
      "to",
    ];
    return this.#frame.argument(names.indexOf(name));
  }

  emit(): MachineFunction {
    const { asm } = this.#unit;
    const { window, compute } = this.#given;
    const end = asm.label();
    this.#frame.enter();
    asm.load("rbx", this.#argument("to"));
    asm.integer("sub", "rbx", this.#argument("from"));
    asm.jump(end, "le");
    asm.load("rax", this.#argument("from"));
    for (const [register, name, plane] of [
      ["r13", "x", window.input],
      ["r14", "y", window.output],
    ] as const) {
      asm.multiply(register, "rax", plane[0] * plane[1] * floatBytes);
      asm.integer("add", register, this.#argument(name));
    }
    if (compute.kind === "weights") this.#emitFirstChannel(compute);
    asm.load("rdi", this.#argument("scratch"));
    fillPlane(this.#unit, this.#layout, compute.kind === "max" ? Number.NEGATIVE_INFINITY : 0);
    asm.countDown("rbx", () => {
      asm.load("rdi", this.#argument("scratch"));
      emitPlaneCopy(this.#unit, this.#layout);
      this.#emitPlane();
      asm.add("r13", window.input[0] * window.input[1] * floatBytes);
      asm.add("r14", window.output[0] * window.output[1] * floatBytes);
      if (compute.kind === "weights") this.#emitNextChannel(compute);
    });
    asm.bind(end);
    this.#frame.leave();
    return asm.machineFunction;
  }

  get #taps(): number {
    const { size } = this.#given.window;
    return size[0] * size[1];
  }

  /** The channel of the first plane: its number modulo `channels`. */
  #emitFirstChannel({ channels, bias }: { readonly channels: number; readonly bias: boolean }): void {
    const { asm } = this.#unit;
    const found = asm.label();
    const start = asm.here();
    asm.integer("cmp", "rax", channels);
    asm.jump(found, "b");
    asm.integer("sub", "rax", channels);
    asm.jump(start);
    asm.bind(found);
    asm.move("r15", "rax");
    asm.multiply("rbp", "r15", this.#taps * floatBytes);
    asm.integer("add", "rbp", this.#argument("weights"));
    if (!bias) return;
    asm.multiply("r12", "r15", floatBytes);
    asm.integer("add", "r12", this.#argument("bias"));
  }

  #emitNextChannel({ channels, bias }: { readonly channels: number; readonly bias: boolean }): void {
    const { asm } = this.#unit;
    const same = asm.label();
    asm.add("rbp", this.#taps * floatBytes);
    if (bias) asm.add("r12", floatBytes);
    asm.add("r15", 1);
    asm.integer("cmp", "r15", channels);
    asm.jump(same, "b");
    asm.loadImmediate("r15", 0);
    asm.load("rbp", this.#argument("weights"));
    if (bias) asm.load("r12", this.#argument("bias"));
    asm.bind(same);
  }

  /** Generates the loops over tiles. rdi: input of the first row of a tile, rdx: its output; rsi and r8: those of the tile. */
  #emitPlane(): void {
    const { asm, lanes } = this.#unit;
    const [height, width] = this.#given.window.output;
    const perRow = Math.ceil(width / lanes);
    const vectors = perRow <= maxSums - 2 ? perRow : maxSums / 2;
    const most = Math.max(1, Math.floor(maxUnrolledSums / (this.#taps * vectors)));
    const rows = Math.min(height, most, Math.floor(maxSums / vectors));
    asm.loadImmediate("rax", width % lanes === 0 ? lanes : width % lanes);
    this.#unit.setTail("rax", "rcx");
    asm.load("rdi", this.#argument("scratch"));
    asm.move("rdx", "r14");
    const emitRows = (count: number): void => {
      this.#emitRow(count, vectors, perRow);
      asm.add("rdi", count * this.#layout.outputRowBytes);
      asm.add("rdx", count * width * floatBytes);
    };
    asm.loadImmediate("rcx", Math.floor(height / rows));
    asm.countDown("rcx", () => emitRows(rows));
    if (height % rows === 0) return;
    asm.loadImmediate("rcx", height % rows);
    asm.countDown("rcx", () => emitRows(1));
  }

  #emitRow(rows: number, vectors: number, perRow: number): void {
    const { asm, bytes } = this.#unit;
    const whole = Math.ceil(perRow / vectors) - 1; // the last tile has the last vector, which may be partial
    asm.move("rsi", "rdi");
    asm.move("r8", "rdx");
    if (whole > 0) {
      asm.loadImmediate("r9", whole);
      asm.countDown("r9", () => {
        this.#emitTile(rows, vectors, false);
        asm.add("rsi", vectors * bytes);
        asm.add("r8", vectors * bytes);
      });
    }
    this.#emitTile(rows, perRow - whole * vectors, true);
  }

  #emitTile(rows: number, vectors: number, isLast: boolean): void {
    const { asm, bytes } = this.#unit;
    const { window, compute } = this.#given;
    const places = indices(rows).flatMap((row) => indices(vectors).map((vector) => ({ row, vector })));
    const weight = places.length;
    this.#emitStart(places.length);
    for (const y of indices(window.size[0]))
      for (const x of indices(window.size[1])) {
        const tap = y * window.size[1] + x;
        if (compute.kind === "weights") asm.vector("vbroadcastss", weight, { base: "rbp", displacement: tap * floatBytes });
        for (const [sum, { row, vector }] of places.entries()) {
          const displacement = row * this.#layout.outputRowBytes + this.#layout.tapOffset(y, x) + vector * bytes;
          this.#emitTap(sum, weight, { base: "rsi", displacement });
        }
      }
    this.#emitEnd(places.length, weight);
    for (const [sum, { row, vector }] of places.entries()) {
      const to = { base: "r8", displacement: row * window.output[1] * floatBytes + vector * bytes } as const;
      if (isLast && vector === vectors - 1) this.#unit.storeTail(to, sum);
      else asm.vector("vmovupsStore", to, sum);
    }
  }

  #emitStart(sums: number): void {
    const { asm } = this.#unit;
    const { compute } = this.#given;
    const first: Vector = 0;
    if (compute.kind === "weights" && compute.bias) asm.vector("vbroadcastss", first, { base: "r12", displacement: 0 });
    else if (compute.kind === "max") asm.vector("vbroadcastss", first, asm.floats(Number.NEGATIVE_INFINITY));
    else asm.clear(first);
    for (const sum of indices(sums)) asm.copy(sum, first);
  }

  #emitTap(sum: Vector, free: Vector, value: Memory): void {
    const { asm, hasEvex } = this.#unit;
    const { compute } = this.#given;
    if (compute.kind === "weights") asm.vector("vfmadd231ps", sum, free, value);
    else if (compute.kind === "sum") asm.vector("vaddps", sum, sum, value);
    else if (hasEvex) {
      // NaN stays: lanes that have it are not written, and an operand that is NaN is returned where it is the second.
      const ordered = 2;
      asm.vector("vcmppsMask", ordered, sum, sum, orderedComparison);
      asm.vector("vmaxps", sum, sum, value, { mask: ordered });
    } else {
      asm.vector("vcmpps", free, sum, sum, unorderedComparison);
      asm.vector("vmaxps", free + 1, sum, value);
      asm.vector("vblendvps", sum, free + 1, sum, free);
    }
  }

  #emitEnd(sums: number, free: Vector): void {
    const { asm } = this.#unit;
    const { compute } = this.#given;
    if (compute.kind === "weights" && this.#activation !== undefined) {
      for (const sum of indices(sums)) {
        const others = indices(this.#unit.vectors).filter((register) => register >= sums);
        asm.copy(sum, emitLanes(this.#unit, this.#activation, [sum], new RegisterPool<Vector>("vector", others)));
      }
    } else if (compute.kind === "sum") {
      asm.vector("vbroadcastss", free, asm.floats(compute.share));
      for (const sum of indices(sums)) asm.vector("vmulps", sum, sum, free);
    }
  }
}
