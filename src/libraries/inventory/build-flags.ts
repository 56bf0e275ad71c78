/** Flags for build systems: which libraries this machine has. */
import { type InstalledLibrary, isOfClass } from "./installed-library.ts";

/** Class of the library that each flag stands for, as analysis names it. */
const flagClasses = {
  hasBitnet: "bitnet",
  hasLlama: "llama",
  hasGgml: "ggml-base",
  hasGgmlCuda: "ggml-cuda",
  hasGgmlVulkan: "ggml-vulkan",
  hasGgmlMetal: "ggml-metal",
  hasOnnxRuntime: "onnxruntime",
  hasPjrt: "pjrt",
  hasCuda: "cuda-runtime",
  hasCudaDriver: "cuda-driver",
  hasCublas: "cublas",
  hasCudnn: "cudnn",
  hasCusparseLt: "cusparselt",
  hasMkl: "mkl",
  hasOneDnn: "onednn",
  hasOpenBlas: "openblas",
  hasBlis: "blis",
  hasOpenMp: "openmp",
  hasNnpack: "nnpack",
  hasNeuron: "neuron",
  hasTriton: "triton",
} as const;

/** Name of a flag. */
export type BuildFlag = keyof typeof flagClasses;

/** One boolean for each flag, and for true flags the library that shows it. */
export type BuildFlags = Readonly<Record<BuildFlag, boolean>> & {
  readonly paths: Readonly<Partial<Record<BuildFlag, string>>>;
};

/** The flags for these libraries: true if one of the class fits this machine. The first one found is named. */
export function buildFlags(libraries: readonly InstalledLibrary[]): BuildFlags {
  const names = Object.keys(flagClasses) as BuildFlag[];
  const found = names.map((name) => {
    const library = libraries.find((each) => each.fits && isOfClass(each, flagClasses[name]));
    return [name, library?.path] as const;
  });
  return {
    ...(Object.fromEntries(found.map(([name, path]) => [name, path !== undefined])) as Record<BuildFlag, boolean>),
    paths: Object.fromEntries(found.filter(([, path]) => path !== undefined)),
  };
}
