/**
 * The fourteen names of backends of YiRage's persistent kernel (docs/ypk/multi_backend_design.md), and the names of our own: what computes under each name, and what it
 * requires. The names are those of `torch.backends` in small letters.
 */

/** One name of a backend. */
export interface BackendName {
  readonly name: string;
  readonly displayName: string;
  /** The backend that computes, perhaps with a qualifier: "xla:cuda". Undefined: nothing of this package computes under the name. */
  readonly computedBy: string | undefined;
  readonly requiresGpu: boolean;
  /** Software that must be there beside inferyard. */
  readonly requiredLibraries: readonly string[];
  /** What the name means here, or why it is not used: a sentence without a full stop. */
  readonly note: string;
}

const own: readonly BackendName[] = [
  {
    name: "native",
    displayName: "Inferyard's own engine",
    computedBy: "native",
    requiresGpu: false,
    requiredLibraries: [],
    note: "kernels that the engine generates: WebAssembly everywhere (native:wasm), machine code on Linux x64 (native:machine-code)",
  },
  {
    name: "xla",
    displayName: "XLA",
    computedBy: "xla",
    requiresGpu: false,
    requiredLibraries: ["koffi", "a PJRT plugin"],
    note: "StableHLO compiled by XLA, on the device that the qualifier names: xla:cpu, xla:cuda, xla:rocm, xla:tpu",
  },
  {
    name: "blas",
    displayName: "A BLAS of this machine",
    computedBy: "blas",
    requiresGpu: false,
    requiredLibraries: ["koffi", "a BLAS"],
    note: "matrix products of float32 and float64 by a library, everything else by the engine; the qualifier names the library: blas:mkl, blas:openblas, blas:blis, blas:onednn, or what it must have: blas:openmp, blas:xeon",
  },
];

const ofDocument: readonly BackendName[] = [
  {
    name: "cuda",
    displayName: "CUDA",
    computedBy: "cuda",
    requiresGpu: true,
    requiredLibraries: ["koffi", "CUDA driver", "NVRTC"],
    note: "CUDA C printed from the graph and compiled by NVRTC, matrix products by cuBLAS where it is found; nobody has run it on a GPU yet; XLA computes on the same GPUs under xla:cuda",
  },
  {
    name: "cpu",
    displayName: "CPU",
    computedBy: "native",
    requiresGpu: false,
    requiredLibraries: [],
    note: "the engine's own kernels",
  },
  {
    name: "mps",
    displayName: "Metal Performance Shaders",
    computedBy: undefined,
    requiresGpu: true,
    requiredLibraries: ["Metal"],
    note: "not used: nothing of this package generates code for Metal",
  },
  {
    name: "cudnn",
    displayName: "cuDNN",
    computedBy: "xla:cuda",
    requiresGpu: true,
    requiredLibraries: ["koffi", "a PJRT plugin for CUDA", "cuDNN"],
    note: "XLA calls cuDNN for convolutions",
  },
  {
    name: "mkl",
    displayName: "Intel MKL",
    computedBy: "blas:mkl",
    requiresGpu: false,
    requiredLibraries: ["koffi", "MKL"],
    note: "matrix products of float32 and float64 by MKL, everything else by the engine",
  },
  {
    name: "mkldnn",
    displayName: "Intel oneDNN",
    computedBy: "blas:onednn",
    requiresGpu: false,
    requiredLibraries: ["koffi", "oneDNN"],
    note: "matrix products of float32 by oneDNN, everything else by the engine: oneDNN has no product of float64 and its convolutions are not used",
  },
  {
    name: "openmp",
    displayName: "OpenMP",
    computedBy: "blas:openmp",
    requiresGpu: false,
    requiredLibraries: ["koffi", "a BLAS that uses OpenMP"],
    note: "matrix products by a library whose threads are OpenMP's; the engine has threads of its own for everything else",
  },
  {
    name: "nki",
    displayName: "AWS Neuron",
    computedBy: undefined,
    requiresGpu: false,
    requiredLibraries: ["AWS Neuron SDK"],
    note: "not used: nothing of this package generates code for Trainium and Inferentia",
  },
  {
    name: "triton",
    displayName: "Triton",
    computedBy: "xla:cuda",
    requiresGpu: true,
    requiredLibraries: ["koffi", "a PJRT plugin for CUDA"],
    note: "XLA generates code for fused operations through Triton, which is part of its plugin; PyTorch is not needed",
  },
  {
    name: "cusparselt",
    displayName: "cuSPARSELt",
    computedBy: undefined,
    requiresGpu: true,
    requiredLibraries: ["cuSPARSELt"],
    note: "not used: programs have no sparse tensors",
  },
  {
    name: "mha",
    displayName: "Multi-head attention",
    computedBy: "native",
    requiresGpu: false,
    requiredLibraries: [],
    note: "an operator (attention) and no device: each backend computes it, native first",
  },
  {
    name: "nnpack",
    displayName: "NNPACK",
    computedBy: undefined,
    requiresGpu: false,
    requiredLibraries: ["NNPACK"],
    note: "not used: the engine has kernels of its own for convolutions",
  },
  {
    name: "opt_einsum",
    displayName: "opt_einsum",
    computedBy: "native",
    requiresGpu: false,
    requiredLibraries: [],
    note: "an order of contractions and no device: each backend computes einsum, native first",
  },
  {
    name: "xeon",
    displayName: "Intel Xeon",
    computedBy: "blas:xeon",
    requiresGpu: false,
    requiredLibraries: ["koffi", "a BLAS", "a processor with AVX-512"],
    note: "matrix products by a library, MKL before others, on a processor with AVX-512; native:machine-code needs no library and uses AVX-512 as well",
  },
];

/** The names of the document, in its order. */
export const documentNames: readonly string[] = ofDocument.map(({ name }) => name);

/** All names: those of the document, then our own. */
export const backendNames: readonly BackendName[] = [...ofDocument, ...own];
