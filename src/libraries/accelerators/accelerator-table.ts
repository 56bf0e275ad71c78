/** The fourteen accelerators that PyTorch names (torch.backends and its documentation), and what of Inferyard computes with them. */
import { omitUndefined } from "../../contract/checked.ts";
import type { DeviceType } from "../../contract/backend.ts";

/** Name of an accelerator, as PyTorch writes it. */
export type AcceleratorKind =
  | "cuda"
  | "mps"
  | "cudnn"
  | "cusparselt"
  | "cpu"
  | "mkl"
  | "mkldnn"
  | "openmp"
  | "xeon"
  | "nki"
  | "triton"
  | "mha"
  | "nnpack"
  | "opt_einsum";

/** Facts about an accelerator that hold on any machine. */
export interface AcceleratorDescription {
  readonly name: AcceleratorKind;
  readonly displayName: string;
  readonly needsGpu: boolean;
  /** Classes of the libraries that it consists of, as analysis names them. Empty: it is hardware, or a part of PyTorch or Python. */
  readonly requiredLibraries: readonly string[];
  /** Type of the device that it is, in targets. Undefined: it is a library, or nothing that a machine has. */
  readonly deviceType?: DeviceType;
  /** Targets of Inferyard that compute with it, as `backend:device`. Empty: nothing does. */
  readonly targets: readonly string[];
  /** A sentence: which parts of Inferyard use it, or why none does. */
  readonly use: string;
}

/** All accelerators, in PyTorch's order. */
export const acceleratorDescriptions: readonly AcceleratorDescription[] = [
  describe("cuda", "NVIDIA CUDA", "onnx:cuda, llamacpp:cuda and library:cuda compute with it", {
    needsGpu: true,
    requiredLibraries: ["cuda-driver", "cuda-runtime"],
    deviceType: "cuda",
    targets: ["onnx:cuda", "llamacpp:cuda", "library:cuda"],
  }),
  describe("mps", "Apple Metal Performance Shaders", "llamacpp:metal computes on the same GPU, with Metal kernels of its own", {
    needsGpu: true,
    deviceType: "metal",
    targets: ["llamacpp:metal"],
  }),
  describe("cudnn", "NVIDIA cuDNN", "onnx:cuda needs it", {
    needsGpu: true,
    requiredLibraries: ["cudnn"],
    targets: ["onnx:cuda"],
  }),
  describe("cusparselt", "NVIDIA cuSPARSELt", "not used: no engine multiplies 2:4 sparse matrices", {
    needsGpu: true,
    requiredLibraries: ["cusparselt"],
  }),
  describe("cpu", "processor", "native:cpu, onnx:cpu, wasm:cpu, llamacpp:cpu and library:cpu compute on it", {
    deviceType: "cpu",
    targets: ["native:cpu", "onnx:cpu", "wasm:cpu", "llamacpp:cpu", "library:cpu"],
  }),
  describe("mkl", "Intel oneMKL", "not used: the engines have matrix products of their own", { requiredLibraries: ["mkl"] }),
  describe("mkldnn", "oneDNN (formerly MKL-DNN)", "not used: no target selects oneDNN's execution provider", {
    requiredLibraries: ["onednn"],
  }),
  describe("openmp", "OpenMP runtime", "not used: the engines have thread pools of their own", { requiredLibraries: ["openmp"] }),
  describe(
    "xeon",
    "Intel Xeon processor",
    "not used: engines choose kernels by instruction sets, not by the name of the processor",
    { deviceType: "cpu" },
  ),
  describe("nki", "AWS Neuron Kernel Interface", "not used: no backend computes on Neuron devices", {
    requiredLibraries: ["neuron"],
  }),
  describe("triton", "Triton compiler", "not used: no engine compiles Triton kernels", {
    needsGpu: true,
    requiredLibraries: ["triton"],
  }),
  describe("mha", "PyTorch's fast path of multi-head attention", "not used: the engines have attention kernels of their own", {}),
  describe("nnpack", "NNPACK", "not used: the engines have convolutions of their own", { requiredLibraries: ["nnpack"] }),
  describe("opt_einsum", "opt_einsum (Python)", "not used: it orders contractions for programs in Python", {}),
];

/** An accelerator that is no GPU, needs no library and computes nothing, unless `facts` say otherwise. */
function describe(
  name: AcceleratorKind,
  displayName: string,
  use: string,
  facts: Partial<AcceleratorDescription>,
): AcceleratorDescription {
  const { needsGpu = false, requiredLibraries = [], deviceType, targets = [] } = facts;
  return { name, displayName, needsGpu, requiredLibraries, ...omitUndefined({ deviceType }), targets, use };
}
