import { describe, expect, it } from "vitest";
import type { Recording } from "../../test/devices/recorded/recording.ts";
import { readMemory } from "./memory.ts";
import { version1Container, version2Nested } from "../../test/devices/recorded/containers.ts";
import { macM3 } from "../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../test/devices/recorded/recording.ts";
import { windowsLaptop } from "../../test/devices/recorded/windows-laptop.ts";

const mebibyte = 1024 ** 2;
const read = (recording: Recording) => readMemory(recordedSources(recording));

describe("readMemory", () => {
  it("takes the kernel's own figures where no limit is set, even though version 1 prints a huge one", async () => {
    expect(await read(noGpu)).toEqual({
      total: { value: 24684084 * 1024, source: "MemTotal in /proc/meminfo" },
      available: { value: 24302284 * 1024, source: "MemAvailable in /proc/meminfo" },
    });
  });

  it("gives a container of 512 MiB what its limit leaves, file cache counted as free", async () => {
    const { total, available } = await read(version1Container);
    expect(total).toEqual({ value: 512 * mebibyte, source: "/sys/fs/cgroup/memory/memory.limit_in_bytes" });
    expect(available.value).toBe((512 - 200 + 50) * mebibyte);
  });

  it("obeys a limit of an ancestor that the container cannot see", async () => {
    const statistics = "hierarchical_memory_limit 268435456\ntotal_inactive_file 52428800\n";
    const files = { ...version1Container.files, "/sys/fs/cgroup/memory/memory.stat": statistics };
    expect((await read({ ...version1Container, files })).total.value).toBe(256 * mebibyte);
  });

  it("finds the limit two levels up in version 2, with what the whole level uses", async () => {
    const { total, available } = await read(version2Nested);
    expect(total).toEqual({ value: 4096 * mebibyte, source: "/sys/fs/cgroup/team.slice/memory.max" });
    expect(available.value).toBe((4096 - 1024 + 256) * mebibyte);
  });

  it("does not promise more than the host has left", async () => {
    const files = { ...version2Nested.files, "/proc/meminfo": "MemTotal:       32768000 kB\nMemAvailable:   100000 kB\n" };
    expect((await read({ ...version2Nested, files })).available.value).toBe(100000 * 1024);
  });

  it("reports nothing left, not less, in a group over its limit", async () => {
    const files = { ...version1Container.files, "/sys/fs/cgroup/memory/memory.usage_in_bytes": "900000000\n" };
    expect((await read({ ...version1Container, files })).available.value).toBe(0);
  });

  it("counts the pages macOS gives up on demand, which os.freemem leaves out", async () => {
    const { total, available } = await read(macM3);
    expect(total.value).toBe(24 * 1024 ** 3);
    expect(available.value).toBe((30589 + 419065 + 5280) * 16384);
  });

  it("falls back to os.freemem when vm_stat fails", async () => {
    expect((await read({ ...macM3, commands: {} })).available).toEqual({ value: 400 * mebibyte, source: "os.freemem" });
  });

  it("takes Node.js's figures on Windows without starting anything", async () => {
    const sources = recordedSources(windowsLaptop);
    expect((await readMemory(sources)).available.value).toBe(20 * 1024 ** 3);
    expect(sources.commandsRun).toEqual([]);
  });
});
