import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { readCpu } from "./cpu.ts";
import { version1Container, version2Nested } from "../../../test/devices/recorded/containers.ts";
import { graviton3 } from "../../../test/devices/recorded/graviton3.ts";
import { h200Server } from "../../../test/devices/recorded/h200-server.ts";
import { macM3 } from "../../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { windowsLaptop, windowsPowerShell } from "../../../test/devices/recorded/windows-laptop.ts";

const read = (recording: Recording) => readCpu(recordedSources(recording));

describe("readCpu", () => {
  it("names the sets of an AMD Zen 4 as its users know them", async () => {
    const cpu = await read(noGpu);
    expect(cpu.model).toEqual({ value: "AMD EPYC", source: "/proc/cpuinfo" });
    expect(cpu.features.value).toEqual([
      "SSE4.2",
      "AVX",
      "F16C",
      "FMA",
      "AVX2",
      "AVX-512 F",
      "AVX-512 BW",
      "AVX-512 VL",
      "AVX-512 VNNI",
      "AVX-512 BF16",
    ]);
  });

  it("sees the matrix units of a Sapphire Rapids", async () => {
    const { features } = await read(h200Server);
    expect(features.value).toEqual(expect.arrayContaining(["AMX-TILE", "AMX-INT8", "AMX-BF16", "AVX-VNNI", "AVX-512 FP16"]));
  });

  it("names an Arm processor and its sets from Linux's numbers", async () => {
    const cpu = await read(graviton3);
    expect(cpu.model.value).toBe("Neoverse-V1");
    expect(cpu.features.value).toEqual(["NEON", "FP16", "DOTPROD", "I8MM", "BF16", "SVE"]);
  });

  it("gives the numbers of an Arm processor it has no name for, and both kinds where there are two", async () => {
    const text = "CPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nCPU implementer\t: 0x41\nCPU part\t: 0xfff\n";
    const { model } = await read({ ...graviton3, files: { ...graviton3.files, "/proc/cpuinfo": text } });
    expect(model.value).toBe("Cortex-A55 + Arm processor (implementer 0x41, part 0xfff)");
  });

  it("reads an Apple chip, leaving out what sysctl reports as 0", async () => {
    const cpu = await read(macM3);
    expect(cpu.model.value).toBe("Apple M3");
    expect(cpu.features).toEqual({ value: ["NEON", "FP16", "DOTPROD", "I8MM", "BF16"], source: "sysctl hw.optional" });
    expect(cpu.quota.value).toBe(8);
  });

  it("reads a Windows laptop", async () => {
    const cpu = await read(windowsLaptop);
    expect(cpu.model.value).toBe("Intel(R) Core(TM) Ultra 7 155H");
    expect(cpu.features.value).toEqual(["SSE4.2", "AVX", "AVX2"]);
  });

  it("says why there are no sets when PowerShell is forbidden", async () => {
    const failure = { ok: false, stdout: "", reason: "running scripts is disabled on this system" } as const;
    const { features } = await read({ ...windowsLaptop, commands: { [windowsPowerShell]: failure } });
    expect(features).toEqual({ value: [], source: expect.stringContaining("running scripts is disabled") });
  });
});

describe("cores and quota", () => {
  it("takes the fraction of a container on control groups version 1", async () => {
    const { cores, quota } = await read(version1Container);
    expect(cores.value).toBe(8);
    expect(quota).toEqual({
      value: 1.5,
      source: "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us (150000 of every 100000 µs)",
    });
  });

  it("finds a quota that stands on an ancestor in version 2", async () => {
    const { quota } = await read(version2Nested);
    expect(quota.value).toBe(3);
    expect(quota.source).toContain("/sys/fs/cgroup/team.slice/team-models.slice/cpu.max");
  });

  it("finds a quota on a group inside the container, whose path counts from the host's root", async () => {
    const files = {
      ...version1Container.files,
      "/proc/self/cgroup": "4:cpu,cpuacct:/docker/0123abcd/worker\n",
      "/sys/fs/cgroup/cpu,cpuacct/worker/cpu.cfs_quota_us": "120000\n",
      "/sys/fs/cgroup/cpu,cpuacct/worker/cpu.cfs_period_us": "100000\n",
    };
    expect((await read({ ...version1Container, files })).quota.value).toBe(1.2);
  });

  it("takes the tightest of several levels", async () => {
    const files = { ...version2Nested.files, "/sys/fs/cgroup/team.slice/cpu.max": "250000 100000\n" };
    expect((await read({ ...version2Nested, files })).quota.value).toBe(2.5);
  });

  it("lets the affinity mask win over a larger quota", async () => {
    const files = { ...version2Nested.files, "/proc/self/status": "Cpus_allowed_list:\t1,4-4\n" };
    const { cores, quota } = await read({ ...version2Nested, files });
    expect(cores.value).toBe(2);
    expect(quota).toEqual({ value: 2, source: "Cpus_allowed_list in /proc/self/status" });
  });

  it("counts only processors that are online, because masks name those that could be plugged in", async () => {
    const files = { ...noGpu.files, "/proc/self/status": "Cpus_allowed_list:\t0-255\n" };
    expect((await read({ ...noGpu, files })).cores.value).toBe(2);
  });

  it("never goes below one processor", async () => {
    const files = { ...version1Container.files, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "25000\n" };
    expect((await read({ ...version1Container, files })).quota.value).toBe(1);
  });

  it("falls back to Node.js's figures where /proc is not mounted", async () => {
    const { cores, model } = await read({ ...noGpu, files: {}, processors: 6 });
    expect(cores).toEqual({ value: 6, source: "os.availableParallelism" });
    expect(model.value).toBe("unknown processor");
  });
});
