/** What this machine has for kernels: instruction sets, CUDA, and the formats of weights that kernels multiply here. */
import { llamacpp } from "../backends/llamacpp/index.ts";
import { hasBuild } from "../backends/llamacpp/package.ts";
import { onnx } from "../backends/onnx/index.ts";
import { hasProvider } from "../backends/onnx/package.ts";
import type { Backend, MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { kernelRegistry } from "../kernels/registry.ts";
import { isSelectable, machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelLevel, type KernelMachine, kernelLevels, levelRefusal } from "../kernels/simd-levels.ts";

/** This machine, as kernels see it. */
export interface KernelMachineReport {
  /** Processor architecture as Node.js names it: "x64", "arm64". */
  readonly architecture: string;
  /** All SIMD levels, from the least to the most. */
  readonly simd: readonly SimdLevel[];
  /** The highest of `simd` that is here; "scalar" if none is. */
  readonly best: KernelLevel;
  readonly cuda: CudaReport;
  /** Formats of weights that a kernel of the registry multiplies here, by their GGUF names and those of packed blocks. */
  readonly formats: readonly string[];
}

/** A SIMD level of kernels. */
export interface SimdLevel {
  readonly level: KernelLevel;
  /** Whether this machine has it. */
  readonly here: boolean;
  /** Why not, as a sentence without a full stop. Absent if it is here. */
  readonly reason?: string;
}

/** CUDA on this machine: `compiledIn` and `runs` if any of the engines has it. */
export interface CudaReport {
  readonly compiledIn: boolean;
  readonly runs: boolean;
  readonly engines: readonly CudaEngine[];
}

/** CUDA in one engine. */
export interface CudaEngine {
  /** "native:cuda", "onnx:cuda", "llamacpp:cuda". */
  readonly target: string;
  /** Whether its installed build contains code for CUDA. */
  readonly compiledIn: boolean;
  /** Whether it has computed something on a CUDA device in this call. */
  readonly runs: boolean;
  /** A sentence without a full stop. */
  readonly reason: string;
}

/** Makes the report. An engine with code for CUDA is run on a CUDA device, in a process of its own, if the machine has one. */
export async function reportMachine(
  machine: MachineFacts,
  known: KernelMachine,
  signal: AbortSignal | undefined,
): Promise<KernelMachineReport> {
  const simd = kernelLevels
    .filter((level) => level !== "CUDA")
    .map((level): SimdLevel => {
      const reason = levelRefusal(level, known);
      return { level, here: reason === undefined, ...omitUndefined({ reason }) };
    });
  const usable = kernelRegistry.filter((kernel) => isSelectable(kernel) && machineRefusal(kernel, known) === undefined);
  const { platform, architecture } = machine;
  const engines = [
    nativeCuda(known),
    await engineCuda(onnx(), hasProvider(platform, architecture, "cuda"), machine, signal),
    await engineCuda(llamacpp(), hasBuild(platform, architecture, "cuda"), machine, signal),
  ];
  return {
    architecture,
    simd,
    best: simd.findLast(({ here }) => here)?.level ?? "scalar",
    cuda: {
      compiledIn: engines.some(({ compiledIn }) => compiledIn),
      runs: engines.some(({ runs }) => runs),
      engines,
    },
    formats: [...new Set(usable.flatMap(({ formats }) => formats))],
  };
}

/** Our own engine: its kernels of the level CUDA. */
function nativeCuda(known: KernelMachine): CudaEngine {
  const own = kernelRegistry.filter(({ level, implementation }) => level === "CUDA" && implementation.kind !== "llama");
  const compiledIn = own.some(isSelectable);
  const usable = own.find((kernel) => isSelectable(kernel) && machineRefusal(kernel, known) === undefined);
  const reason = compiledIn
    ? usable === undefined
      ? String(known.cuda)
      : `kernel ${usable.id}`
    : "its kernels for CUDA are not built";
  return { target: "native:cuda", compiledIn, runs: usable !== undefined, reason };
}

async function engineCuda(
  backend: Backend,
  compiledIn: boolean,
  machine: MachineFacts,
  signal: AbortSignal | undefined,
): Promise<CudaEngine> {
  const device = { type: "cuda", index: 0 };
  const availability = await backend.probe({ machine, run: true, device, ...omitUndefined({ signal }) });
  const found = availability.present ? availability.devices.find((each) => each.device.type === "cuda") : undefined;
  const absence = availability.present ? `${backend.name} has no build for CUDA on ${machine.platform}` : availability.reason;
  return {
    target: `${backend.name}:cuda`,
    compiledIn,
    runs: found?.state === "available",
    reason: found?.reason ?? absence,
  };
}
