/**
 * A workstation with two different NVIDIA cards, of which CUDA_VISIBLE_DEVICES leaves the second. Composed in the layout of
 * nvidia-smi 610, whose banner says "CUDA UMD Version".
 */
import type { Recording } from "./recording.ts";
import { h200Query } from "./h200-server.ts";
import { loaderCache } from "./recording.ts";

/** Linux on x64 with two NVIDIA GPUs; CUDA_VISIBLE_DEVICES=1 hides the first. */
export const twoGpuBox: Recording = {
  platform: "linux",
  architecture: "x64",
  environment: { PATH: "/usr/bin:/bin", CUDA_VISIBLE_DEVICES: "1" },
  files: {
    "/etc/ld.so.cache": loaderCache("/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
    "/usr/bin/nvidia-smi": "",
    "/proc/self/status": "Cpus_allowed_list:\t0-31\n",
    "/proc/meminfo": "MemTotal:       65761280 kB\nMemAvailable:   60000000 kB\n",
  },
  commands: {
    [`/usr/bin/nvidia-smi --query-gpu=${h200Query} --format=csv,noheader,nounits`]:
      "GPU-1a000000-0000-4000-8000-000000000001, NVIDIA GeForce RTX 3060, 12288, 11902, 610.57.04, 8.6, [N/A]\n" +
      "GPU-2b000000-0000-4000-8000-000000000002, NVIDIA GeForce RTX 4090, 24564, 24110, 610.57.04, 8.9, [N/A]\n",
    "/usr/bin/nvidia-smi ": "| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |\n",
  },
  processors: 32,
  totalMemory: 65761280 * 1024,
  freeMemory: 60000000 * 1024,
};
