/**
 * Convolutions in float32 as machine code, on the same layouts and pieces as the WebAssembly kernel `conv2d`: neighbouring positions of an output row are the lanes
 * of vectors, and a tile has several output channels. The inputs below a tile are copied to scratch memory as [depth][columns] (im2col), unless a 1 x 1
 * window has one tile of channels. Sums begin with the bias and run over the depth in order, fused, so that results are the bits of WebAssembly's.
 */
import { required } from "../../../../contract/checked.ts";
import type { Activation } from "../../../ir/operations.ts";
import type { X64Level } from "../../../../kernels/simd-levels.ts";
import type { ResolvedWindow } from "../../wasm/kernels/convolution/window.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { tileColumns } from "../../wasm/kernels/matmul/micro-kernel.ts";
import type { Memory, Vector } from "../assembler/operands.ts";
import { RegisterPool } from "../assembler/register-pool.ts";
import { FunctionFrame } from "../functions/function-frame.ts";
import { VectorUnit } from "../functions/vector-unit.ts";
import { activationProgram } from "../lanewise/activation.ts";
import { emitLanes } from "../lanewise/emit-lanes.ts";
import type { MachineFunction } from "../machine-kernel.ts";
import { emitNextImage } from "./next-image.ts";
import { PatchCopy } from "./patch-copy.ts";

/** Shapes and fused operations of one convolution. */
export interface ConvolutionLoops {
  /** For a 1 x 1 window without stride and pads: the plane as one row. */
  readonly window: ResolvedWindow;
  /** Whether the window is 1 x 1 over one row without stride and pads. */
  readonly isPointwise: boolean;
  /** Input and output channels of one group. */
  readonly channels: number;
  readonly outputs: number;
  readonly groups: number;
  readonly bias: boolean;
  readonly activation: Activation;
}

/** Output channels of a tile by its vectors of columns, from one on. Sums, columns and factors fill the vector registers. */
const maxRows = { 16: [24, 12, 8], 8: [12, 6] } as const;
/** Bytes of a copied patch: a part of the L2 cache. */
const maxPatchBytes = 384 * 1024;
/** Larger windows and planes are left to WebAssembly: code is written out for a row of the window, and distances between rows are immediates. */
const maxWindowColumns = 64;
const maxPlaneBytes = 2 ** 26;

/** Vectors of columns of a tile. */
function vectorsPerTile({ window, channels }: Pick<ConvolutionLoops, "window" | "channels">, lanes: 8 | 16): number {
  const perRow = Math.ceil(window.output[1] / lanes);
  const patchBytes = channels * window.size[0] * window.size[1] * lanes * floatBytes;
  const wanted = lanes === 16 && perRow === 4 ? 2 : Math.min(perRow, maxRows[lanes].length);
  return Math.max(1, Math.min(wanted, Math.floor(maxPatchBytes / patchBytes)));
}

/** Bytes of scratch memory for the patch of a tile, at the level that needs most. */
export function convolutionScratchBytes(loops: Pick<ConvolutionLoops, "window" | "channels">): number {
  const { channels, window } = loops;
  const columns = Math.max(...([8, 16] as const).map((lanes) => lanes * vectorsPerTile(loops, lanes)));
  return channels * window.size[0] * window.size[1] * columns * floatBytes;
}

/** Generates the function of a convolution: arguments x, weights, bias if there is one, y, scratch, first piece, end of the pieces. Undefined where WebAssembly computes it. */
export function machineConvolution(loops: ConvolutionLoops, level: X64Level): MachineFunction | undefined {
  const { window, outputs, channels } = loops;
  const planeBytes = Math.max(window.input[0] * window.input[1], window.output[0] * window.output[1]) * floatBytes;
  const isLarge = window.size[1] > maxWindowColumns || planeBytes * Math.max(...maxRows[16]) > maxPlaneBytes;
  if (isLarge || channels * outputs === 0) return undefined;
  return new ConvolutionFunction(loops, level).emit();
}

/**
 * Registers between units (the positions that are computed at once): rbx pieces that are left, rbp panel of 8 columns in its row, r12 output row, r13 input image,
 * r14 output image, r15 group.
 */
class ConvolutionFunction {
  readonly #unit: VectorUnit;
  readonly #frame: FunctionFrame;
  readonly #loops: ConvolutionLoops;
  readonly #vectors: number;
  readonly #depth: number;
  readonly #panels: number;
  readonly #patch: PatchCopy;
  /** Panels of the unit. */
  readonly #taken: Memory;
  readonly #outPlane: number;

  constructor(loops: ConvolutionLoops, level: X64Level) {
    this.#loops = loops;
    this.#unit = new VectorUnit(level);
    this.#frame = new FunctionFrame(this.#unit.asm);
    const { window, channels } = loops;
    this.#vectors = vectorsPerTile(loops, this.#unit.lanes);
    this.#depth = channels * window.size[0] * window.size[1];
    this.#panels = Math.ceil(window.output[1] / tileColumns);
    this.#outPlane = window.output[0] * window.output[1] * floatBytes;
    this.#taken = this.#frame.reserve();
    this.#patch = new PatchCopy(this.#unit, this.#frame, loops, this.#vectors);
  }

  get #arguments(): Readonly<Record<"x" | "weights" | "bias" | "y" | "scratch" | "from" | "to", Memory>> {
    const { bias } = this.#loops;
    const names = ["x", "weights", ...(bias ? ["bias"] : []), "y", "scratch", "from", "to"];
    const place = (name: string): Memory => this.#frame.argument(names.indexOf(name));
    return {
      x: place("x"),
      weights: place("weights"),
      bias: place("bias"),
      y: place("y"),
      scratch: place("scratch"),
      from: place("from"),
      to: place("to"),
    };
  }

  emit(): MachineFunction {
    const { asm } = this.#unit;
    const [end, start, wide] = [asm.label(), asm.label(), asm.label()];
    this.#frame.enter();
    asm.load("rbx", this.#arguments.to);
    asm.integer("sub", "rbx", this.#arguments.from);
    asm.jump(end, "le");
    this.#emitFirstPosition();
    asm.bind(start);
    asm.loadImmediate("rax", this.#panels);
    asm.integer("sub", "rax", "rbp");
    asm.integer("cmp", "rax", "rbx");
    asm.moveIf("a", "rax", "rbx");
    const next = asm.label();
    if (this.#vectors > 1) {
      asm.integer("cmp", "rax", this.#panelsPerVector * (this.#vectors - 1));
      asm.jump(wide, "a");
    }
    this.#emitUnit(1);
    if (this.#vectors > 1) {
      asm.jump(next);
      asm.bind(wide);
      this.#emitUnit(this.#vectors);
      asm.bind(next);
    }
    this.#emitNextPosition();
    asm.integer("cmp", "rbx", 0);
    asm.jump(start, "ne");
    asm.bind(end);
    this.#frame.leave();
    return asm.machineFunction;
  }

  get #panelsPerVector(): number {
    return this.#unit.lanes / tileColumns;
  }

  #emitFirstPosition(): void {
    const { asm } = this.#unit;
    asm.load("rax", this.#arguments.from);
    asm.load("r13", this.#arguments.x);
    asm.load("r14", this.#arguments.y);
    for (const register of ["r12", "r15"] as const) asm.loadImmediate(register, 0);
    this.#emitSteps(this.#loops.window.output[0] * this.#panels, () =>
      emitNextImage(this.#unit.asm, this.#loops, this.#outPlane),
    );
    this.#emitSteps(this.#panels, () => asm.add("r12", 1));
    asm.move("rbp", "rax");
  }

  /** Reduces rax below a number, with one step each time that it is subtracted. */
  #emitSteps(number: number, step: () => void): void {
    const { asm } = this.#unit;
    const end = asm.label();
    const start = asm.here();
    asm.integer("cmp", "rax", number);
    asm.jump(end, "b");
    asm.integer("sub", "rax", number);
    step();
    asm.jump(start);
    asm.bind(end);
  }

  #emitNextPosition(): void {
    const { asm } = this.#unit;
    const inRow = asm.label();
    asm.load("rax", this.#taken);
    asm.integer("sub", "rbx", "rax");
    asm.add("rbp", "rax");
    asm.integer("cmp", "rbp", this.#panels);
    asm.jump(inRow, "b");
    asm.loadImmediate("rbp", 0);
    asm.add("r12", 1);
    asm.integer("cmp", "r12", this.#loops.window.output[0]);
    asm.jump(inRow, "b");
    asm.loadImmediate("r12", 0);
    emitNextImage(this.#unit.asm, this.#loops, this.#outPlane);
    asm.bind(inRow);
  }

  /** Generates the code of the positions of `vectors` vectors, the last of which may have fewer lanes. rax: panels that are left in the row or of the pieces. */
  #emitUnit(vectors: number): void {
    const { asm, lanes } = this.#unit;
    const { window } = this.#loops;
    asm.loadImmediate("rcx", vectors * this.#panelsPerVector);
    asm.integer("cmp", "rax", "rcx");
    asm.moveIf("a", "rax", "rcx");
    asm.store(this.#taken, "rax");
    asm.multiply("rcx", "rbp", -tileColumns);
    asm.add("rcx", window.output[1]);
    asm.shift("shl", "rax", Math.log2(tileColumns));
    asm.integer("cmp", "rax", "rcx");
    asm.moveIf("a", "rax", "rcx");
    asm.add("rax", -(vectors - 1) * lanes);
    this.#unit.setTail("rax", "rcx");
    const isDirect = this.#loops.isPointwise && this.#loops.outputs <= this.#rowsOf(vectors);
    if (isDirect) {
      asm.multiply("rsi", "rbp", tileColumns * floatBytes);
      asm.add("rsi", "r13");
    } else {
      asm.load("rsi", this.#arguments.scratch);
      this.#patch.emit(vectors);
      asm.load("rsi", this.#arguments.scratch);
    }
    this.#emitTiles(vectors, isDirect);
  }

  /** Channels of a tile: the smallest number that needs no more tiles than the largest. */
  #rowsOf(vectors: number): number {
    const { outputs } = this.#loops;
    const most = maxRows[this.#unit.lanes][vectors - 1] ?? 1;
    return Math.ceil(outputs / Math.ceil(outputs / most));
  }

  /** Generates the loop over output channels. rsi: the patch, or the plane of the first channel at the unit. Changes rdi, rdx, rcx, r8 to r11. */
  #emitTiles(vectors: number, isDirect: boolean): void {
    const { asm } = this.#unit;
    const { outputs, bias, activation } = this.#loops;
    const rows = this.#rowsOf(vectors);
    asm.load("rdi", this.#arguments.weights);
    asm.multiply("rax", "r15", outputs * this.#depth * floatBytes);
    asm.add("rdi", "rax");
    if (bias) {
      asm.multiply("rcx", "r15", outputs * floatBytes);
      asm.integer("add", "rcx", this.#arguments.bias);
    }
    this.#emitOutputAddress();
    asm.loadImmediate("r8", Math.floor(outputs / rows));
    asm.countDown("r8", () => {
      this.#emitTile(rows, vectors, isDirect);
      asm.add("rdi", rows * this.#depth * floatBytes);
      asm.add("rdx", rows * this.#outPlane);
      if (bias) asm.add("rcx", rows * floatBytes);
    });
    if (outputs % rows > 0) this.#emitTile(outputs % rows, vectors, isDirect);
    if (activation !== "none" && activation !== "relu") this.#emitActivation(vectors);
  }

  /** Sets rdx to the output of the first channel at the unit. Changes rax. */
  #emitOutputAddress(): void {
    const { asm } = this.#unit;
    asm.multiply("rdx", "r12", this.#loops.window.output[1] * floatBytes);
    asm.multiply("rax", "rbp", tileColumns * floatBytes);
    asm.add("rdx", "rax");
    asm.add("rdx", "r14");
  }

  /** Generates the loop that applies an expensive activation to the stored sums of all channels: its code is not repeated for each sum of a tile. */
  #emitActivation(vectors: number): void {
    const { asm, bytes } = this.#unit;
    const program = required(activationProgram(this.#loops.activation), "the code of an activation");
    this.#emitOutputAddress();
    asm.loadImmediate("r8", this.#loops.outputs);
    asm.countDown("r8", () => {
      for (const vector of indices(vectors)) {
        const pool = new RegisterPool<Vector>("vector", indices(this.#unit.vectors));
        const place = { base: "rdx", displacement: vector * bytes } as const;
        const sum = pool.take();
        const isTail = vector === vectors - 1;
        if (isTail) this.#unit.loadTail(sum, place);
        else asm.vector("vmovups", sum, place);
        const result = emitLanes(this.#unit, program, [sum], pool);
        if (isTail) this.#unit.storeTail(place, result);
        else asm.vector("vmovupsStore", place, result);
      }
      asm.add("rdx", this.#outPlane);
    });
  }

  #emitTile(rows: number, vectors: number, isDirect: boolean): void {
    const { asm, hasEvex, bytes } = this.#unit;
    const { window, bias, activation } = this.#loops;
    const sum = (row: number, vector: number): number => row * vectors + vector;
    const column = (vector: number): number => rows * vectors + vector;
    const factor = rows * vectors + vectors;
    for (const row of indices(rows)) {
      if (bias) asm.vector("vbroadcastss", sum(row, 0), { base: "rcx", displacement: row * floatBytes });
      for (const vector of indices(vectors)) {
        if (!bias) asm.clear(sum(row, vector));
        else asm.copy(sum(row, vector), sum(row, 0));
      }
    }
    const columnStep = isDirect ? window.input[0] * window.input[1] * floatBytes : vectors * bytes;
    asm.move("r10", "rdi");
    asm.move("r11", "rsi");
    asm.loadImmediate("r9", this.#depth);
    asm.countDown("r9", () => {
      for (const vector of indices(vectors)) {
        const from = { base: "r11", displacement: vector * bytes } as const;
        if (isDirect && vector === vectors - 1) this.#unit.loadTail(column(vector), from);
        else asm.vector("vmovups", column(vector), from);
      }
      for (const row of indices(rows)) {
        const weight = { base: "r10", displacement: row * this.#depth * floatBytes } as const;
        if (vectors === 1 && hasEvex) {
          asm.vector("vfmadd231ps", sum(row, 0), column(0), weight, { broadcast: true });
          continue;
        }
        asm.vector("vbroadcastss", factor, weight);
        for (const vector of indices(vectors)) asm.vector("vfmadd231ps", sum(row, vector), column(vector), factor);
      }
      asm.add("r10", floatBytes);
      asm.add("r11", columnStep);
    });
    if (activation === "relu") asm.clear(factor);
    for (const row of indices(rows))
      for (const vector of indices(vectors)) {
        const register = sum(row, vector);
        if (activation === "relu") asm.vector("vmaxps", register, factor, register); // NaN stays NaN: the second operand is returned
        const to = { base: "rdx", displacement: row * this.#outPlane + vector * bytes } as const;
        if (vector === vectors - 1) this.#unit.storeTail(to, register);
        else asm.vector("vmovupsStore", to, register);
      }
  }
}
