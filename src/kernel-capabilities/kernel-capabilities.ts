/** What the kernel registry says of this machine. */
import { KernelFacts, type KernelSpeed } from "../backends/native/kernel-facts.ts";
import type { MachineFacts } from "../contract/backend.ts";
import { throwIfAborted } from "../contract/errors.ts";
import { readMachine } from "../devices/index.ts";
import { yieldToEventLoop } from "../platform/event-loop.ts";
import { closestFormat, type ClosestFormat } from "../kernels/closest-format.ts";
import type { KernelEntry, KernelSelfTest } from "../kernels/kernel-entry.ts";
import { kernelRegistry, multipliedFormats } from "../kernels/registry.ts";
import { machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelLevel, type KernelMachine, kernelMachine, levelRefusal } from "../kernels/simd-levels.ts";

/** Options of `kernelCapabilities`. */
export interface KernelCapabilitiesOptions {
  /** Names of formats whose kernels are listed. Default: all. */
  readonly formats?: readonly string[];
  /** Whether each kernel is timed, on one thread, in about half a second. Default: false. */
  readonly bench?: boolean;
  /** Facts about this machine. Default: they are read. */
  readonly machine?: MachineFacts;
  readonly signal?: AbortSignal | undefined;
}

/** The kernels of this machine. */
export interface KernelCapabilities {
  readonly kernels: readonly KernelCapability[];
  /** Bytes that one thread reads from memory each second at best, in units of 1e9, measured in the same run. Set with `bench`. */
  readonly memoryGigabytesPerSecond?: number;
  /** For each format that was asked for and that no kernel multiplies: the closest that there is, for a matrix of 4096 x 4096. */
  readonly closest: Readonly<Record<string, ClosestFormat>>;
}

/** One kernel. */
export interface KernelCapability {
  readonly id: string;
  /** Formats of weights that it multiplies; "any": all of llama.cpp. */
  readonly formats: readonly string[] | "any";
  readonly level: KernelLevel;
  /** Columns of the weights must be a multiple of this. */
  readonly columnMultiple: number;
  readonly built: boolean;
  /** Whether it is built and this machine runs it. */
  readonly here: boolean;
  /** Why it is not here, or how it is chosen, as a sentence without a full stop. */
  readonly reason?: string;
  /** Its known-answer test in this call. Absent: it is not here, or llama.cpp's own. */
  readonly selfTest?: KernelSelfTest;
  /** Set with `bench`. */
  readonly speed?: KernelSpeed & { readonly ofMemory: number };
}

/**
 * The kernel registry on this machine: which kernels are built, which run here, and what their known-answer tests say. If node-llama-cpp and koffi are installed,
 * ggml's kernels are loaded into this process to be tested.
 */
export async function kernelCapabilities(options: KernelCapabilitiesOptions = {}): Promise<KernelCapabilities> {
  const { formats, bench = false, signal } = options;
  const machine = options.machine ?? (await readMachine());
  const facts = await KernelFacts.open();
  const known = kernelMachine(machine, facts.wasm, facts);
  const wanted = kernelRegistry.filter(
    (kernel) => formats === undefined || (kernel.formats !== "any" && formats.some((each) => kernel.formats.includes(each))),
  );
  const memory = bench ? facts.measureMemory() : undefined;
  const kernels: KernelCapability[] = [];
  for (const kernel of wanted) {
    await yieldToEventLoop();
    throwIfAborted(signal);
    const { id, level, columnMultiple, implementation } = kernel;
    const reason = reasonFor(kernel, known);
    const isHere = isUsable(kernel, known);
    const selfTest = isHere ? facts.selfTest(kernel) : undefined;
    const speed = memory === undefined || selfTest?.passed !== true ? undefined : facts.measure(kernel);
    kernels.push({
      id,
      formats: kernel.formats,
      level,
      columnMultiple,
      built: implementation.kind !== "none",
      here: isHere,
      ...(reason === undefined ? {} : { reason }),
      ...(selfTest === undefined ? {} : { selfTest }),
      ...(speed === undefined || memory === undefined
        ? {}
        : { speed: { ...speed, ofMemory: speed.gigabytesPerSecond / memory } }),
    });
  }
  const unsupported = (formats ?? []).filter((format) => multipliedFormats[format] === undefined);
  const closest = unsupported.map((format) => [format, closestFormat({ format, rows: 4096, columns: 4096 })] as const);
  return { kernels, ...(memory === undefined ? {} : { memoryGigabytesPerSecond: memory }), closest: Object.fromEntries(closest) };
}

/** The machine comes first: that a kernel for another one is not built matters less. */
function reasonFor({ level, implementation, isOptional = false }: KernelEntry, machine: KernelMachine): string | undefined {
  const refusal = levelRefusal(level, machine);
  if (refusal !== undefined) return implementation.kind === "none" ? `${refusal}; not built yet` : refusal;
  if (implementation.kind === "none") return implementation.reason;
  if (implementation.kind === "llama") return "all of llama.cpp's kernels: the target llamacpp";
  if (implementation.kind === "ggml" && machine.ggml !== true) return machine.ggml;
  if (implementation.kind === "machine" && machine.machineCode !== true) return machine.machineCode;
  return isOptional ? "used only if it is preferred" : undefined;
}

function isUsable(kernel: KernelEntry, machine: KernelMachine): boolean {
  return machineRefusal(kernel, machine) === undefined;
}
