/** Report of what this machine offers to kernels: instruction sets, CUDA, and the weight formats that kernels multiply here. */
import { llamacpp } from "../backends/llamacpp/index.ts";
import { hasBuild } from "../backends/llamacpp/package.ts";
import { onnx } from "../backends/onnx/index.ts";
import { hasProvider } from "../backends/onnx/package.ts";
import type { Backend, MachineFacts } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { kernelRegistry } from "../kernels/registry.ts";
import { isSelectable, machineRefusal } from "../kernels/select-kernel.ts";
import { type KernelLevel, type KernelMachine, kernelLevels, levelRefusal } from "../kernels/simd-levels.ts";

/** Properties of this machine that decide which kernels run. */
export interface KernelMachineReport {
  /** Processor architecture as Node.js names it: "x64", "arm64". */
  readonly architecture: string;
  /** All SIMD levels, from lowest to highest. */
  readonly simd: readonly SimdLevel[];
  /** The highest supported level of `simd`; "scalar" if no level is supported. */
  readonly best: KernelLevel;
  readonly cuda: CudaReport;
  /** Weight formats that a kernel of the registry multiplies on this machine: names of GGUF types and of packed block formats. */
  readonly formats: readonly string[];
}

/** A SIMD level of kernels. */
export interface SimdLevel {
  readonly level: KernelLevel;
  /** Whether this machine supports the level. */
  readonly here: boolean;
  /** Why the level is not supported; a sentence without a full stop. Absent if it is supported. */
  readonly reason?: string;
}

/** CUDA on this machine. `compiledIn` and `runs` are true if they are true for any engine. */
export interface CudaReport {
  readonly compiledIn: boolean;
  readonly runs: boolean;
  readonly engines: readonly CudaEngine[];
}

/** CUDA support of one engine. */
export interface CudaEngine {
  /** The engine's target: "native:cuda", "onnx:cuda" or "llamacpp:cuda". */
  readonly target: string;
  /** Whether the installed build of the engine contains CUDA code. */
  readonly compiledIn: boolean;
  /** Whether the engine has run a computation on a CUDA device in this call. */
  readonly runs: boolean;
  /** Explanation of the two flags; a sentence without a full stop. */
  readonly reason: string;
}

/** Creates the report. If the machine has a CUDA device, each engine with CUDA code is run on it, in a child process. */
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

/** CUDA support of the native engine, from its kernels of the level CUDA. */
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
