/**
 * Quantization of the activations of products with quantized weights as machine code: the bits of the WebAssembly kernels `quantizeActivations` and
 * `quantizeActivationBytes`. Vectors of 256 bits at every level: most of the time is the way from the largest element to its inverse.
 */
import {
  activationGroup,
  activationGroupBytes,
  activationScaleOffset,
  byteActivationGroupBytes,
} from "../../wasm/kernels/blocks/block-layout.ts";
import { floatBytes, indices } from "../../wasm/kernels/loops/lanes.ts";
import { Assembler } from "../assembler/assembler.ts";
import type { Vector } from "../assembler/operands.ts";
import type { MachineFunction } from "../machine-kernel.ts";

const vectorBytes = 32;
const vectorLanes = 8;
/** Vectors of 32 elements, in registers 0 to 3. */
const vectors = 4;
const [largest, other, inverse, isScaled, sum, ones, magnitude] = [4, 5, 6, 7, 8, 9, 10] as const;
/** Comparisons that are false for NaN. */
const [greater, less] = [30, 17];
const swapHalves = 0x4e;
const swapNeighbours = 0xb1;
const narrow = { bits: 128 } as const;

/** Registers: rdi elements, rsi output, rcx rows that are left, rax groups that are left, rdx elements of a group. */
abstract class QuantizationCode {
  protected readonly asm: Assembler = new Assembler({ bits: 256, hasEvex: false });

  /** Generates a function of x, y, the first row and the end of the rows. */
  emit(columns: number, groupElements: number, rowBytes: number): MachineFunction {
    const { asm } = this;
    const end = asm.label();
    asm.integer("sub", "rcx", "rdx");
    asm.jump(end, "le");
    asm.multiply("rax", "rdx", columns * floatBytes);
    asm.add("rdi", "rax");
    asm.multiply("rax", "rdx", rowBytes);
    asm.add("rsi", "rax");
    asm.vector("vpcmpeqd", magnitude, magnitude, magnitude);
    asm.vector("vpsrlw", ones, magnitude, 15);
    asm.vector("vpsrld", magnitude, magnitude, 1);
    asm.countDown("rcx", () => {
      asm.loadImmediate("rax", columns / groupElements);
      asm.countDown("rax", () => this.emitGroup());
    });
    asm.bind(end);
    asm.return();
    return asm.machineFunction;
  }

  protected abstract emitGroup(): void;

  /** Raises the lanes of `largest` to the magnitudes of 32 elements, compared as integers, so that NaN exceeds all. */
  protected emitLargest(base: "rdi" | "rdx"): void {
    const { asm } = this;
    for (const vector of indices(vectors)) {
      asm.vector("vpand", other, magnitude, { base, displacement: vector * vectorBytes });
      asm.vector("vpmaxsd", largest, largest, other);
    }
  }

  /** The largest lane, scaled to `largestCode`: the scale in `largest`, its inverse in all lanes of `inverse`, and whether elements are scaled in `isScaled`. */
  protected emitInverse(largestCode: number): void {
    const { asm } = this;
    asm.vector("vextracti128", other, largest, 1);
    asm.vector("vpmaxsd", largest, largest, other, narrow);
    for (const order of [swapHalves, swapNeighbours]) {
      asm.vector("vpshufd", other, largest, order, narrow);
      asm.vector("vpmaxsd", largest, largest, other, narrow);
    }
    // 0 where the maximum is 0 or so small that its inverse is infinite, or not finite.
    asm.vector("vbroadcastss", isScaled, asm.floats(largestCode * 2 ** -126), narrow);
    asm.vector("vcmpps", isScaled, largest, isScaled, greater, narrow);
    asm.vector("vbroadcastss", other, asm.floats(Number.POSITIVE_INFINITY), narrow);
    asm.vector("vcmpps", other, largest, other, less, narrow);
    asm.vector("vpand", isScaled, isScaled, other, narrow);
    asm.vector("vbroadcastss", inverse, asm.floats(largestCode), narrow);
    asm.vector("vdivps", inverse, inverse, largest, narrow);
    asm.vector("vpand", inverse, inverse, isScaled, narrow);
    asm.vector("vbroadcastss", other, asm.floats(1 / largestCode), narrow);
    asm.vector("vmulps", largest, largest, other, narrow);
    asm.vector("vbroadcastss", inverse, inverse);
    asm.vector("vpbroadcastd", isScaled, isScaled);
  }

  /** The codes of 32 elements as 16-bit integers in registers 0 and 2, 8 of each half in every 128 bits. */
  protected emitCodes(): void {
    const { asm } = this;
    for (const vector of indices(vectors)) {
      asm.vector("vmulps", vector, inverse, { base: "rdi", displacement: vector * vectorBytes });
      asm.vector("vcvtps2dq", vector, vector);
      asm.vector("vpand", vector, vector, isScaled);
    }
    for (const first of [0, 2]) asm.vector("vpackssdw", first, first, first + 1);
  }

  /** The sum of neighbours of 16-bit codes. */
  protected emitNeighbours(to: Vector, codes: Vector): void {
    this.asm.vector("vpmaddwd", to, codes, ones);
  }
}

/** 16-bit codes by groups of 32, then the scale and the sums of the first half, of the second and of all. */
class WordQuantization extends QuantizationCode {
  protected override emitGroup(): void {
    const { asm } = this;
    asm.clear(largest);
    this.emitLargest("rdi");
    this.emitInverse(32_767);
    this.emitCodes();
    this.emitNeighbours(1, 0);
    this.emitNeighbours(3, 2);
    for (const half of [0, 1]) {
      asm.vector("vpermq", 2 * half, 2 * half, 0xd8);
      asm.vector("vmovdquStore", { base: "rsi", displacement: half * vectorBytes }, 2 * half);
    }
    // The sums of both halves, side by side in the lanes.
    asm.vector("vpunpckldq", sum, 1, 3);
    asm.vector("vpunpckhdq", other, 1, 3);
    asm.vector("vpaddd", sum, sum, other);
    asm.vector("vextracti128", other, sum, 1);
    asm.vector("vpaddd", sum, sum, other, narrow);
    asm.vector("vpshufd", other, sum, swapHalves, narrow);
    asm.vector("vpaddd", sum, sum, other, narrow);
    asm.vector("vpshufd", other, sum, swapNeighbours, narrow);
    asm.vector("vpaddd", other, other, sum, narrow);
    const firstSecond = 0 | (0 << 2) | (1 << 4) | (1 << 6);
    asm.vector("vpshufd", sum, sum, firstSecond, narrow);
    asm.vector("vpblendd", sum, sum, other, 8, narrow);
    asm.vector("vpblendd", sum, sum, largest, 1, narrow);
    asm.vector("vmovdquStore", { base: "rsi", displacement: activationScaleOffset }, sum, narrow);
    asm.add("rdi", activationGroup * floatBytes);
    asm.add("rsi", activationGroupBytes);
  }
}

/** 8-bit codes by groups of `elements`, then the scale and the sum. */
class ByteQuantization extends QuantizationCode {
  readonly #elements: number;

  constructor(elements: number) {
    super();
    this.#elements = elements;
  }

  protected override emitGroup(): void {
    const { asm } = this;
    const stepElements = vectors * vectorLanes;
    const steps = this.#elements / stepElements;
    asm.clear(largest);
    asm.move("rdx", "rdi");
    asm.loadImmediate("r8", steps);
    asm.countDown("r8", () => {
      this.emitLargest("rdx");
      asm.add("rdx", stepElements * floatBytes);
    });
    this.emitInverse(127);
    asm.clear(sum);
    asm.loadImmediate("r8", steps);
    asm.countDown("r8", () => {
      this.emitCodes();
      for (const codes of [0, 2]) {
        this.emitNeighbours(1, codes);
        asm.vector("vpaddd", sum, sum, 1);
      }
      asm.vector("vpacksswb", 0, 0, 2);
      asm.vector("vmovdqu", other, asm.integers(0, 4, 1, 5, 2, 6, 3, 7));
      asm.vector("vpermd", 0, other, 0);
      asm.vector("vmovdquStore", { base: "rsi", displacement: 0 }, 0);
      asm.add("rdi", stepElements * floatBytes);
      asm.add("rsi", stepElements);
    });
    asm.vector("vextracti128", other, sum, 1);
    asm.vector("vpaddd", sum, sum, other, narrow);
    for (const order of [swapHalves, swapNeighbours]) {
      asm.vector("vpshufd", other, sum, order, narrow);
      asm.vector("vpaddd", sum, sum, other, narrow);
    }
    asm.vector("vpunpckldq", sum, largest, sum, narrow);
    asm.vector("vmovsdStore", { base: "rsi", displacement: 0 }, sum);
    asm.add("rsi", byteActivationGroupBytes(0));
  }
}

/** Generates a function of x [rows, columns], y, the first row and the end of the rows. `columns` is a multiple of 32. */
export function machineQuantizeActivations({ columns }: { readonly columns: number }): MachineFunction {
  return new WordQuantization().emit(columns, activationGroup, (columns / activationGroup) * activationGroupBytes);
}

/** The same for 8-bit activations by groups of `elements`; undefined where these are no multiple of 32. */
export function machineQuantizeActivationBytes({
  columns,
  elements,
}: {
  readonly columns: number;
  readonly elements: number;
}): MachineFunction | undefined {
  if (elements % (vectors * vectorLanes) !== 0) return undefined;
  return new ByteQuantization(elements).emit(columns, elements, (columns / elements) * byteActivationGroupBytes(elements));
}
