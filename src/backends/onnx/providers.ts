/** The execution providers of onnxruntime-node: their platforms, requirements and session options. */
import { omitUndefined } from "../../contract/checked.ts";
import type { Device, LoadOptions, MachineFacts, Precision } from "../../contract/backend.ts";

/** An execution provider. */
export interface Provider {
  readonly deviceType: string;
  /** Name of the provider in the session option `executionProviders`. */
  readonly sessionName: string;
  /** Name of the provider in onnxruntime's profile. */
  readonly profileName: string;
  /** `platform/architecture` pairs for which the package contains it or can install it. */
  readonly platforms: readonly string[];
  /** Files beside the binding that it requires. */
  readonly libraries?: readonly string[];
  /** Why this machine has no device for it, if that is known without running anything. */
  absenceReason?(machine: MachineFacts): string | undefined;
  readonly precisions: readonly Precision[];
  /** true: its session options take a device id. The others reject unknown options. */
  readonly takesDeviceId?: true;
  /** true: no published build contains it, so it is reported only if its libraries are beside the binding. */
  readonly isUnpublished?: true;
  /** Maximum level of graph optimization that it supports. Default: all. */
  readonly maxOptimization?: "basic";
}

const allPlatforms = ["linux/x64", "linux/arm64", "darwin/arm64", "darwin/x64", "win32/x64", "win32/arm64"];

/**
 * All providers in order of preference. CoreML, WebGPU and TensorRT come after the CPU: the first compiles for seconds for each
 * new shape, the second is experimental, the third builds engines for minutes. A user selects one of them with `--prefer
 * onnx:coreml`.
 */
export const providers: readonly Provider[] = [
  {
    deviceType: "cuda",
    takesDeviceId: true,
    sessionName: "cuda",
    profileName: "CUDAExecutionProvider",
    platforms: ["linux/x64"],
    libraries: ["libonnxruntime_providers_shared.so", "libonnxruntime_providers_cuda.so"],
    absenceReason: (machine) => absence(machine, "cuda"),
    precisions: ["fp32", "fp16", "bf16", "int8"],
  },
  {
    deviceType: "directml",
    takesDeviceId: true,
    sessionName: "dml",
    profileName: "DmlExecutionProvider",
    platforms: ["win32/x64", "win32/arm64"],
    absenceReason: (machine) => absence(machine, "directml"),
    precisions: ["fp32", "fp16", "int8"],
  },
  {
    deviceType: "cpu",
    sessionName: "cpu",
    profileName: "CPUExecutionProvider",
    platforms: allPlatforms,
    precisions: ["fp32", "fp16", "bf16", "int8", "int4"],
  },
  {
    deviceType: "coreml",
    sessionName: "coreml",
    profileName: "CoreMLExecutionProvider",
    platforms: ["darwin/arm64", "darwin/x64"],
    absenceReason: (machine) => absence(machine, "coreml"),
    precisions: ["fp32", "fp16"],
    maxOptimization: "basic",
  },
  {
    deviceType: "webgpu",
    sessionName: "webgpu",
    profileName: "WebGpuExecutionProvider",
    platforms: ["linux/x64", "darwin/arm64", "darwin/x64", "win32/x64", "win32/arm64"],
    absenceReason: (machine) =>
      absence(machine, ({ darwin: "metal", win32: "directml" } as Record<string, string>)[machine.platform] ?? "vulkan"),
    precisions: ["fp32", "fp16", "int4"],
  },
  {
    deviceType: "tensorrt",
    takesDeviceId: true,
    sessionName: "tensorrt",
    profileName: "TensorrtExecutionProvider",
    platforms: ["linux/x64"],
    libraries: ["libonnxruntime_providers_shared.so", "libonnxruntime_providers_tensorrt.so"],
    absenceReason: (machine) => absence(machine, "cuda"),
    precisions: ["fp32", "fp16", "int8"],
  },
  {
    deviceType: "rocm",
    takesDeviceId: true,
    sessionName: "rocm",
    profileName: "ROCMExecutionProvider",
    platforms: ["linux/x64"],
    libraries: ["libonnxruntime_providers_shared.so", "libonnxruntime_providers_rocm.so"],
    isUnpublished: true,
    precisions: ["fp32", "fp16", "int8"],
  },
  {
    deviceType: "openvino",
    sessionName: "openvino",
    profileName: "OpenVINOExecutionProvider",
    platforms: ["linux/x64"],
    libraries: ["libonnxruntime_providers_shared.so", "libonnxruntime_providers_openvino.so"],
    isUnpublished: true,
    precisions: ["fp32", "fp16", "int8"],
  },
];

function absence(machine: MachineFacts, type: string): string | undefined {
  if (machine.accelerators.some(({ device }) => device.type === type)) return undefined;
  return machine.absent[type] ?? `no ${type} device was found on this machine`;
}

/** The provider of a device type. Undefined if there is none. */
export function getProvider(device: Device): Provider | undefined {
  return providers.find((provider) => provider.deviceType === device.type);
}

/** Session options that use this device only. */
export function sessionOptions(provider: Provider, device: Device, settings: LoadOptions): Record<string, unknown> {
  const wanted = settings.graphOptimization ?? "all";
  const level = provider.maxOptimization !== undefined && wanted !== "disabled" ? provider.maxOptimization : wanted;
  const onCpu = provider.deviceType === "cpu";
  // A limit on the memory of runs means that models and clients share the machine, as in a server. An arena keeps the memory of the largest run for as long as the
  // model is loaded, and idle threads that wait for work in a loop keep the processors from other models.
  const isShared = onCpu && settings.maxRunMemory !== undefined;
  const memoryArena = settings.memoryArena ?? (isShared ? false : undefined);
  return {
    executionProviders: [
      provider.takesDeviceId === true ? { name: provider.sessionName, deviceId: device.index } : provider.sessionName,
    ],
    graphOptimizationLevel: level,
    logSeverityLevel: 4,
    ...(settings.threads === undefined ? {} : { intraOpNumThreads: settings.threads, interOpNumThreads: 1 }),
    ...omitUndefined({ enableMemPattern: settings.memoryPattern, enableCpuMemArena: memoryArena }),
    ...(isShared ? { extra: { session: { intra_op: { allow_spinning: "0" } } } } : {}),
    // Otherwise nodes that the provider cannot run would silently run on the CPU.
    ...(onCpu || settings.cpuNodes === "allow" ? {} : { extra: { session: { disable_cpu_ep_fallback: "1" } } }),
  };
}
