/** What the kernel registry says of this machine. */
import { NativeKernels, type KernelSpeed } from "../backends/native/kernel-speeds/kernel-facts.ts";
import type { FamilySpeed, ProcessorPeaks } from "../backends/native/kernel-speeds/family-speeds.ts";
import type { MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { throwIfAborted } from "../contract/errors.ts";
import { readMachine } from "../devices/index.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import { closestFormat, type ClosestFormat } from "../kernels/closest-format.ts";
import { machineFamilyId } from "../kernels/kernel-ids.ts";
import { listedFamilies } from "../kernels/machine-families.ts";
import { kernelRegistry, multipliedFormats } from "../kernels/registry.ts";
import { type KernelLevel, kernelMachine, x64Levels } from "../kernels/simd-levels.ts";
import type { MemoryReport, ModelMemory } from "../runtime/reports.ts";
import { type KernelTest, testKernel } from "./kernel-test.ts";
import { type KernelMachineReport, reportMachine } from "./machine-report.ts";

/** Options of `kernelCapabilities`. */
export interface KernelCapabilitiesOptions {
  /** Names of formats whose kernels are listed. Default: all. */
  readonly formats?: readonly string[];
  /** Whether each kernel is timed, on one thread, in about half a second. Default: false. */
  readonly bench?: boolean;
  /** Facts about this machine. Default: they are read. */
  readonly machine?: MachineFacts;
  /** Runtime whose loaded models are listed. Default: no models are listed. */
  readonly runtime?: { memory(): MemoryReport };
  readonly signal?: AbortSignal | undefined;
}

/** Report on this machine, its kernels, and the models that a runtime has loaded. */
export interface KernelCapabilities {
  readonly machine: KernelMachineReport;
  /** The loaded models of the runtime in the options. Absent if no runtime is given. */
  readonly models?: readonly LoadedContext[];
  readonly kernels: readonly KernelCapability[];
  /** The families of kernels in machine code at the level that models use here. Absent where `formats` are given. */
  readonly families?: readonly FamilyCapability[];
  /** What one thread of this processor reaches at best, measured in the same run. Set with `bench` where machine code runs. */
  readonly peaks?: ProcessorPeaks;
  /** Bytes that one thread reads from memory each second at best, in units of 1e9, measured in the same run. Set with `bench`. */
  readonly memoryGigabytesPerSecond?: number;
  /** For each requested format that no kernel multiplies: the closest supported format, for a matrix of 4096 x 4096. */
  readonly closest: Readonly<Record<string, ClosestFormat>>;
}

/** A loaded model and its maximum context length in tokens. */
export type LoadedContext = Pick<ModelMemory, "reference" | "target" | "contextLength">;

/** One kernel. */
export interface KernelCapability extends KernelTest {
  readonly id: string;
  /** Formats of weights that it multiplies; "any": all of llama.cpp. */
  readonly formats: readonly string[] | "any";
  readonly level: KernelLevel;
  /** Columns of the weights must be a multiple of this. */
  readonly columnMultiple: number;
  readonly built: boolean;
  /** Measured speed of the kernel. Only with `bench`. */
  readonly speed?: KernelSpeed & { readonly ofMemory: number };
}

/** A family of kernels in machine code. */
export interface FamilyCapability extends KernelTest {
  /** Id under which its calls are counted: "F32_AVX512". */
  readonly id: string;
  readonly family: string;
  readonly level: KernelLevel;
  /** Measured speed. Only with `bench`, for families with a sample. */
  readonly speed?: FamilySpeed;
}

/**
 * Reports the kernel registry on this machine: instruction sets and devices, which kernels are built, which run here, and the results of their
 * known-answer tests.
 */
export async function kernelCapabilities(options: KernelCapabilitiesOptions = {}): Promise<KernelCapabilities> {
  const { formats, bench = false, signal } = options;
  const machine = options.machine ?? (await readMachine());
  const facts = await NativeKernels.open();
  const known = kernelMachine(machine, facts.wasm, facts.machineCode);
  const wanted = kernelRegistry.filter(
    (kernel) => formats === undefined || (kernel.formats !== "any" && formats.some((each) => kernel.formats.includes(each))),
  );
  const memory = bench ? facts.measureMemory() : undefined;
  const kernels: KernelCapability[] = [];
  for (const kernel of wanted) {
    await yieldToEventLoop();
    throwIfAborted(signal);
    const { id, level, columnMultiple, implementation } = kernel;
    const tested = testKernel(kernel, known, facts);
    const speed = memory === undefined || tested.selfTest?.passed !== true ? undefined : facts.measure(kernel);
    kernels.push({
      id,
      formats: kernel.formats,
      level,
      columnMultiple,
      built: implementation.kind !== "none",
      ...tested,
      ...(speed === undefined || memory === undefined
        ? {}
        : { speed: { ...speed, ofMemory: speed.gigabytesPerSecond / memory } }),
    });
  }
  const peaks = bench && formats === undefined ? facts.measurePeaks() : undefined;
  const families = formats === undefined ? await reportFamilies(facts, peaks, signal) : undefined;
  const unsupported = (formats ?? []).filter((format) => multipliedFormats[format] === undefined);
  const closest = unsupported.map((format) => [format, closestFormat({ format, rows: 4096, columns: 4096 })] as const);
  const report = await reportMachine(machine, known, signal);
  const models = options.runtime
    ?.memory()
    .models.map(({ reference, target, contextLength }) => ({ reference, target, contextLength }));
  return {
    machine: report,
    ...omitUndefined({ models }),
    kernels,
    ...omitUndefined({ families, peaks }),
    ...omitUndefined({ memoryGigabytesPerSecond: memory }),
    closest: Object.fromEntries(closest),
  };
}

async function reportFamilies(
  facts: NativeKernels,
  peaks: ProcessorPeaks | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly FamilyCapability[]> {
  const reports: FamilyCapability[] = [];
  for (const family of listedFamilies) {
    await yieldToEventLoop();
    throwIfAborted(signal);
    const level = facts.machineLevel ?? x64Levels[0];
    const id = machineFamilyId(family, level);
    const { machineCode } = facts;
    if (machineCode !== true) reports.push({ id, family, level, here: false, reason: machineCode });
    else {
      const selfTest = facts.testFamily(family);
      const speed = peaks === undefined ? undefined : facts.measureFamily(family, peaks);
      reports.push({ id, family, level, here: true, ...omitUndefined({ selfTest, speed }) });
    }
  }
  return reports;
}
