/** An AWS c7g.2xlarge (Graviton3, Neoverse V1). Composed from the /proc/cpuinfo that Linux 5.10 prints on that processor. */
import type { Recording } from "./recording.ts";
import { loaderCache } from "./recording.ts";

const features =
  "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop sha3 sm3 sm4 asimddp " +
  "sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs paca pacg dcpodp svei8mm svebf16 i8mm bf16 dgh rng";

const processor = (number: number): string => `processor	: ${number}
BogoMIPS	: 2100.00
Features	: ${features}
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x1
CPU part	: 0xd40
CPU revision	: 1

`;

/** Linux on eight arm64 cores of an AWS Graviton3 with SVE, int8 matrix and bfloat16 instructions; no GPU. */
export const graviton3: Recording = {
  platform: "linux",
  architecture: "arm64",
  environment: { PATH: "/usr/bin:/bin" },
  files: {
    "/etc/ld.so.cache": loaderCache("/lib/aarch64-linux-gnu/libc.so.6"),
    "/proc/cpuinfo": Array.from({ length: 8 }, (_, number) => processor(number)).join(""),
    "/proc/self/status": "Cpus_allowed_list:\t0-7\n",
    "/sys/devices/system/cpu/online": "0-7\n",
    "/proc/meminfo": "MemTotal:       15900000 kB\nMemAvailable:   15000000 kB\n",
  },
  commands: {},
  processors: 8,
  totalMemory: 15900000 * 1024,
  freeMemory: 15000000 * 1024,
};
