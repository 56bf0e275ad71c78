/** How fast kernels in machine code are, as shares of what this processor can do: its roofline (Williams, Waterman and Patterson 2009). */
import { required } from "../../../contract/checked.ts";
import { wasmHost, wasmPageBytes } from "../../../engine/codegen/wasm/index.ts";
import { type MachineCode, generateMachineKernels } from "../../../engine/codegen/x64/index.ts";
import { peakLoop, sweepBytes, sweepLoop } from "../../../engine/codegen/x64/peak-loops.ts";
import type { MachineFamilyName } from "../../../kernels/machine-families.ts";
import { type FamilySample, familySamples } from "./family-samples.ts";
import { timeCalls } from "./time-calls.ts";

/** What one thread of this processor reaches at best at a level of machine code, measured. */
export interface ProcessorPeaks {
  /** Pairs of a float32 multiplication and an addition each second, in units of 1e9, in a loop over registers. */
  readonly floatGigaMultiplyAdds: number;
  /** The same of bytes with sums of 32 bits. */
  readonly byteGigaMultiplyAdds: number;
  /** Bytes read from memory each second, in units of 1e9. */
  readonly memoryGigabytesPerSecond: number;
}

/** Speed of one call of a kernel family, on one thread, with operands in main memory. */
export interface FamilySpeed {
  /** What the call computes. */
  readonly what: string;
  /** Milliseconds of the fastest call. */
  readonly milliseconds: number;
  /** What bounds the time at best: multiplications, or the bytes of the operands. */
  readonly bound: "compute" | "memory";
  /** The time of that bound at the peaks of the processor, divided by the measured time. */
  readonly ofRoofline: number;
}

/** Operands are in as many places as take this many bytes together, so that they do not fit into caches. */
const measuredBytes = 96 * 2 ** 20;
const alignment = 64;

/** Measures the peaks. */
export function measurePeaks(machine: MachineCode): ProcessorPeaks {
  const memory = openMemory(measuredBytes);
  const [float, byte] = (["float", "byte"] as const).map((kind) => {
    const { code, multiplyAdds } = peakLoop(kind, machine.level);
    return multiplyAdds / timeCalls(install(machine, code, memory)).best / 1e6;
  });
  const sweep = install(machine, sweepLoop(machine.level), memory);
  const { best } = timeCalls(() => sweep(wasmPageBytes, measuredBytes / sweepBytes));
  machine.free();
  return {
    floatGigaMultiplyAdds: required(float, "a peak"),
    byteGigaMultiplyAdds: required(byte, "a peak"),
    memoryGigabytesPerSecond: measuredBytes / best / 1e6,
  };
}

/** Measures a family. Undefined for one without a sample, or whose sample WebAssembly computes at this level. */
export function measureFamily(family: MachineFamilyName, machine: MachineCode, peaks: ProcessorPeaks): FamilySpeed | undefined {
  const sample = familySamples[family]?.();
  if (sample === undefined) return undefined;
  const [code] = generateMachineKernels([sample.kernel], machine);
  if (code === undefined) return undefined;
  const { what, kernel, multiplyAdds, isBytes = false } = sample;
  const places = placeOperands(sample);
  const memory = openMemory(places.bytes);
  const run = install(machine, code, memory);
  const { best } = timeCalls((call) => {
    run(...kernel.dynamicSizes, ...required(places.offsets[call % places.offsets.length], "operands"), 0, kernel.pieces);
  });
  machine.free();
  const bytes = Object.values(sample.operands).reduce((sum, size) => sum + size, 0);
  const computing = multiplyAdds / (isBytes ? peaks.byteGigaMultiplyAdds : peaks.floatGigaMultiplyAdds) / 1e6;
  const reading = bytes / peaks.memoryGigabytesPerSecond / 1e6;
  const bound = computing > reading ? "compute" : "memory";
  return { what, milliseconds: best, bound, ofRoofline: Math.max(computing, reading) / best };
}

type Generated = Omit<Parameters<MachineCode["install"]>[0][number], "key" | "level">;

function install(
  machine: MachineCode,
  { arguments: given = [], ...code }: Partial<Pick<Generated, "arguments">> & Omit<Generated, "arguments">,
  memory: ReturnType<typeof openMemory>,
): (...operands: number[]) => void {
  const [kernel] = machine.install([{ ...code, arguments: given, key: "measured", level: machine.level }]);
  return machine.bind(required(kernel, "an installed kernel"), memory);
}

/** A memory of float32 of 0.5. The first page belongs to nobody. */
function openMemory(bytes: number): InstanceType<ReturnType<typeof wasmHost>["Memory"]> {
  const memory = new (wasmHost().Memory)({ initial: Math.ceil(bytes / wasmPageBytes) + 2 });
  new Float32Array(memory.buffer).fill(0.5);
  return memory;
}

/** Offsets of the operands of a call in each of their places, with the scratch memory, which all share. */
function placeOperands({ kernel, operands }: FamilySample): {
  readonly offsets: readonly (readonly number[])[];
  readonly bytes: number;
} {
  let end = wasmPageBytes;
  const take = (bytes: number): number => {
    const start = end;
    end = Math.ceil((end + bytes) / alignment) * alignment + alignment;
    return start;
  };
  const scratch = take(kernel.scratchBytes);
  const size = Object.values(operands).reduce((sum, bytes) => sum + bytes, 0);
  const offsets = Array.from({ length: Math.max(1, Math.ceil(measuredBytes / size)) }, () =>
    kernel.parameters.map((name) => (name === "scratch" ? scratch : take(required(operands[name], `the operand ${name}`)))),
  );
  return { offsets, bytes: end };
}
