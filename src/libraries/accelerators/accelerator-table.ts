/** The fourteen accelerators that PyTorch names (torch.backends and its documentation), and what of Inferyard computes with them. */
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
  {
    name: "cuda",
    displayName: "NVIDIA CUDA",
    needsGpu: true,
    requiredLibraries: ["cuda-driver", "cuda-runtime"],
    deviceType: "cuda",
    targets: ["onnx:cuda", "llamacpp:cuda", "library:cuda"],
    use: "onnx:cuda, llamacpp:cuda and library:cuda compute with it",
  },
  {
    name: "mps",
    displayName: "Apple Metal Performance Shaders",
    needsGpu: true,
    requiredLibraries: [],
    deviceType: "metal",
    targets: ["llamacpp:metal"],
    use: "llamacpp:metal computes on the same GPU, with Metal kernels of its own",
  },
  {
    name: "cudnn",
    displayName: "NVIDIA cuDNN",
    needsGpu: true,
    requiredLibraries: ["cudnn"],
    targets: ["onnx:cuda"],
    use: "onnx:cuda needs it",
  },
  {
    name: "cusparselt",
    displayName: "NVIDIA cuSPARSELt",
    needsGpu: true,
    requiredLibraries: ["cusparselt"],
    targets: [],
    use: "not used: no engine multiplies 2:4 sparse matrices",
  },
  {
    name: "cpu",
    displayName: "processor",
    needsGpu: false,
    requiredLibraries: [],
    deviceType: "cpu",
    targets: ["native:cpu", "onnx:cpu", "wasm:cpu", "llamacpp:cpu", "library:cpu"],
    use: "native:cpu, onnx:cpu, wasm:cpu, llamacpp:cpu and library:cpu compute on it",
  },
  {
    name: "mkl",
    displayName: "Intel oneMKL",
    needsGpu: false,
    requiredLibraries: ["mkl"],
    targets: [],
    use: "not used: the engines have matrix products of their own",
  },
  {
    name: "mkldnn",
    displayName: "oneDNN (formerly MKL-DNN)",
    needsGpu: false,
    requiredLibraries: ["onednn"],
    targets: [],
    use: "not used: no target selects oneDNN's execution provider",
  },
  {
    name: "openmp",
    displayName: "OpenMP runtime",
    needsGpu: false,
    requiredLibraries: ["openmp"],
    targets: [],
    use: "not used: the engines have thread pools of their own",
  },
  {
    name: "xeon",
    displayName: "Intel Xeon processor",
    needsGpu: false,
    requiredLibraries: [],
    deviceType: "cpu",
    targets: [],
    use: "not used: engines choose kernels by instruction sets, not by the name of the processor",
  },
  {
    name: "nki",
    displayName: "AWS Neuron Kernel Interface",
    needsGpu: false,
    requiredLibraries: ["neuron"],
    targets: [],
    use: "not used: no backend computes on Neuron devices",
  },
  {
    name: "triton",
    displayName: "Triton compiler",
    needsGpu: true,
    requiredLibraries: ["triton"],
    targets: [],
    use: "not used: no engine compiles Triton kernels",
  },
  {
    name: "mha",
    displayName: "PyTorch's fast path of multi-head attention",
    needsGpu: false,
    requiredLibraries: [],
    targets: [],
    use: "not used: the engines have attention kernels of their own",
  },
  {
    name: "nnpack",
    displayName: "NNPACK",
    needsGpu: false,
    requiredLibraries: ["nnpack"],
    targets: [],
    use: "not used: the engines have convolutions of their own",
  },
  {
    name: "opt_einsum",
    displayName: "opt_einsum (Python)",
    needsGpu: false,
    requiredLibraries: [],
    targets: [],
    use: "not used: it orders contractions for programs in Python",
  },
];
