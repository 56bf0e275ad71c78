/** Containers with limits, on hosts with 8 processors and 32 GB. Composed after Docker on control groups version 1, and systemd with a nested group on version 2. */
import type { Recording } from "./recording.ts";
import { noGpu } from "./no-gpu.ts";

const host = {
  "/proc/self/status": "Cpus_allowed_list:\t0-7\n",
  "/sys/devices/system/cpu/online": "0-7\n",
  "/proc/meminfo": "MemTotal:       32768000 kB\nMemFree:        20000000 kB\nMemAvailable:   28000000 kB\n",
};

/**
 * A recorded container with version 1 control groups: 1.5 processors and 512 MiB, of which 200 MiB are used, 50 MiB of them file
 * cache. The control group's path counts from the host's root.
 */
export const version1Container: Recording = {
  ...noGpu,
  files: {
    ...host,
    "/proc/self/cgroup": "5:memory:/docker/0123abcd\n4:cpu,cpuacct:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n",
    "/proc/self/mountinfo":
      "736 703 0:31 /docker/0123abcd /sys/fs/cgroup/cpu,cpuacct ro,nosuid,nodev,noexec,relatime master:16 - cgroup cgroup rw,cpu,cpuacct\n" +
      "737 703 0:32 /docker/0123abcd /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime master:17 - cgroup cgroup rw,memory\n",
    "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
    "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "536870912\n",
    "/sys/fs/cgroup/memory/memory.usage_in_bytes": "209715200\n",
    "/sys/fs/cgroup/memory/memory.stat":
      "cache 60000000\ninactive_file 1\nhierarchical_memory_limit 536870912\ntotal_cache 60000000\ntotal_inactive_file 52428800\n",
  },
};

/**
 * A recorded machine with nested version 2 control groups, whose limits are set on ancestors: 3 processors on the slice, 4 GiB on
 * the slice above it with 1 GiB used; the group itself has none.
 */
export const version2Nested: Recording = {
  ...noGpu,
  files: {
    ...host,
    "/proc/self/cgroup": "0::/team.slice/team-models.slice/worker.service\n",
    "/proc/self/mountinfo":
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    "/sys/fs/cgroup/team.slice/team-models.slice/worker.service/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/team.slice/team-models.slice/worker.service/memory.max": "max\n",
    "/sys/fs/cgroup/team.slice/team-models.slice/worker.service/memory.current": "104857600\n",
    "/sys/fs/cgroup/team.slice/team-models.slice/cpu.max": "300000 100000\n",
    "/sys/fs/cgroup/team.slice/team-models.slice/memory.max": "max\n",
    "/sys/fs/cgroup/team.slice/cpu.max": "max 100000\n",
    "/sys/fs/cgroup/team.slice/memory.max": "4294967296\n",
    "/sys/fs/cgroup/team.slice/memory.current": "1073741824\n",
    "/sys/fs/cgroup/team.slice/memory.stat": "anon 800000000\nfile 273741824\ninactive_anon 5\ninactive_file 268435456\n",
  },
};
