/**
 * A cloud machine with one NVIDIA H200 and Sapphire Rapids processors. Composed: the memory size and driver version are those
 * read from such a machine, the layout is that of nvidia-smi 580; UUIDs are made up.
 */
import type { Recording } from "./recording.ts";
import { loaderCache } from "./recording.ts";

/** The fields that device detection asks nvidia-smi for (`--query-gpu`), in the order of the answer's columns. */
export const h200Query = "uuid,name,memory.total,memory.free,driver_version,compute_cap,mig.mode.current";

/** Output of nvidia-smi without arguments. Only its header states the CUDA version. */
export const h200Banner = `Thu Nov 12 09:14:27 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.159.03             Driver Version: 580.159.03     CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA H200                    On  |   00000000:19:00.0 Off |                    0 |
+-----------------------------------------+------------------------+----------------------+
`;

/** Linux on x64 with 16 AVX-512 and AMX cores and one NVIDIA H200. */
export const h200Server: Recording = {
  platform: "linux",
  architecture: "x64",
  environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
  files: {
    "/etc/ld.so.cache": loaderCache("/lib/i386-linux-gnu/libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1"),
    "/lib/x86_64-linux-gnu/libcuda.so.1": "",
    "/usr/bin/nvidia-smi": "",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build\n",
    "/proc/cpuinfo": `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 143
model name	: Intel(R) Xeon(R) Platinum 8480+
flags		: fpu sse sse2 ssse3 fma cx16 sse4_1 sse4_2 avx f16c avx2 avx512f avx512dq avx512ifma avx512cd avx512bw avx512vl avx_vnni avx512_bf16 avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg amx_bf16 avx512_fp16 amx_tile amx_int8
bugs		: spectre_v1 spectre_v2
`,
    "/proc/self/status": "Cpus_allowed:\tffff\nCpus_allowed_list:\t0-15\n",
    "/sys/devices/system/cpu/online": "0-15\n",
    "/proc/meminfo": "MemTotal:       131887684 kB\nMemFree:        120000000 kB\nMemAvailable:   127000000 kB\n",
  },
  commands: {
    [`/usr/bin/nvidia-smi --query-gpu=${h200Query} --format=csv,noheader,nounits`]:
      "GPU-4d1b8c0e-0000-4000-8000-0000000000a0, NVIDIA H200, 143771, 143153, 580.159.03, 9.0, Disabled\n",
    "/usr/bin/nvidia-smi ": h200Banner,
  },
  processors: 16,
  totalMemory: 131887684 * 1024,
  freeMemory: 127000000 * 1024,
};
