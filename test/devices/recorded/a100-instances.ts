/** A server whose first A100 is split into two MIG instances and whose second is whole. Composed in the layout of NVIDIA's MIG user guide. */
import type { Recording } from "./recording.ts";
import { h200Query } from "./h200-server.ts";
import { loaderCache } from "./recording.ts";

/** Two NVIDIA A100 80 GB. The first is split into the MIG instances 3g.40gb and 1g.10gb; MIG is off on the second. */
export const a100Instances: Recording = {
  platform: "linux",
  architecture: "x64",
  environment: { PATH: "/usr/bin" },
  files: { "/etc/ld.so.cache": loaderCache("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), "/usr/bin/nvidia-smi": "" },
  commands: {
    [`/usr/bin/nvidia-smi --query-gpu=${h200Query} --format=csv,noheader,nounits`]:
      "GPU-aaaa0000-0000-4000-8000-000000000001, NVIDIA A100-SXM4-80GB, 81920, 81000, 535.183.01, 8.0, Enabled\n" +
      "GPU-bbbb0000-0000-4000-8000-000000000002, NVIDIA A100-SXM4-80GB, 81920, 81100, 535.183.01, 8.0, Disabled\n",
    "/usr/bin/nvidia-smi ": "| NVIDIA-SMI 535.183.01   Driver Version: 535.183.01   CUDA Version: 12.2     |\n",
    "/usr/bin/nvidia-smi -L":
      "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaa0000-0000-4000-8000-000000000001)\n" +
      "  MIG 3g.40gb     Device  0: (UUID: MIG-c0000000-0000-5000-8000-000000000001)\n" +
      "  MIG 1g.10gb     Device  1: (UUID: MIG-d0000000-0000-5000-8000-000000000002)\n" +
      "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-bbbb0000-0000-4000-8000-000000000002)\n",
  },
  processors: 64,
  totalMemory: 512 * 1024 ** 3,
  freeMemory: 500 * 1024 ** 3,
};
