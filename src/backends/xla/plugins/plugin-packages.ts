/** Python packages that hold PJRT plugins, by accelerator. */
import type { AcceleratorName } from "./accelerators.ts";

/** Package of a plugin for an accelerator. */
export interface PluginPackage {
  /** Type of its devices, as targets name it. */
  readonly deviceType: string;
  /** Packages in the order in which they are tried. */
  readonly packages: readonly string[];
  /** Major version of CUDA. */
  readonly cudaMajor?: number;
  /** Packages with the libraries that the plugin loads when it needs them, and that it does not hold itself. */
  readonly companions?: readonly string[];
}

/** NVIDIA's libraries, by the extra "with-cuda" of jax-cuda12-plugin and jax-cuda13-plugin. */
const nvidia = ["cublas", "cuda-cupti", "cuda-nvcc", "cuda-nvrtc", "cuda-runtime", "cufft", "cusolver", "cusparse", "nvjitlink"];
/** Those whose names have the version of CUDA in every version. */
const versioned = ["cudnn", "nccl", "nvshmem"];

/**
 * The packages. For CPUs the first one includes the licences of itself and its parts in the wheel, and has the newest version of the API; the second declares Apache-2.0, and the
 * third, of the authors of OpenXLA, declares nothing.
 */
export const pluginPackages: Readonly<Record<AcceleratorName, PluginPackage>> = {
  cpu: { deviceType: "cpu", packages: ["lammps-jax-pjrt-cpu", "fastatomstruct-xla-cpu", "xla-cpu-pjrt"] },
  cuda12: {
    deviceType: "cuda",
    packages: ["jax-cuda12-pjrt"],
    cudaMajor: 12,
    companions: [...nvidia, ...versioned].map((name) => `nvidia-${name}-cu12`),
  },
  cuda13: {
    deviceType: "cuda",
    packages: ["jax-cuda13-pjrt"],
    cudaMajor: 13,
    companions: [...[...nvidia, "nvvm"].map((name) => `nvidia-${name}`), ...versioned.map((name) => `nvidia-${name}-cu13`)],
  },
  rocm7: { deviceType: "rocm", packages: ["jax-rocm7-pjrt"] },
  tpu: { deviceType: "tpu", packages: ["libtpu"] },
};
