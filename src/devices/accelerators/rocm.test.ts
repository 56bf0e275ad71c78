import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { mi300Server } from "../../../test/devices/recorded/mi300-server.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { windowsLaptop } from "../../../test/devices/recorded/windows-laptop.ts";
import { probeRocm } from "./rocm.ts";

const probe = (recording: Recording) => probeRocm(recordedSources(recording));
const without = (recording: Recording, path: string): Recording => ({
  ...recording,
  files: Object.fromEntries(Object.entries(recording.files).filter(([file]) => file !== path)),
});

async function freeMemory(environment: Record<string, string>): Promise<readonly (number | undefined)[] | string> {
  const finding = await probe({ ...mi300Server, environment: { PATH: "/usr/bin", ...environment } });
  return "absent" in finding ? finding.absent : finding.devices.map(({ memory }) => memory?.freeBytes);
}

const freeOfFirst = 206_141_652_992 - 297_508_864;
const freeOfSecond = 206_141_652_992 - 1_000_000_000;

describe("probeRocm", () => {
  it("lists GPUs and leaves the processor's node out", async () => {
    const finding = await probe(mi300Server);
    const devices = "devices" in finding ? finding.devices : [];
    expect(devices).toHaveLength(2);
    expect(devices[0]).toEqual({
      device: { type: "rocm", index: 0 },
      name: "AMD Instinct MI300X (gfx942)",
      source: "/sys/class/kfd/kfd/topology/nodes/1, rocminfo",
      memory: { totalBytes: 206_141_652_992, freeBytes: freeOfFirst },
    });
  });

  it.each([
    [90010, "gfx90a"],
    [110501, "gfx1151"],
    [100300, "gfx1030"],
  ])("writes target version %i as %s, and needs no rocminfo", async (version, target) => {
    const path = "/sys/class/kfd/kfd/topology/nodes/1/properties";
    const properties = (mi300Server.files[path] ?? "").replace("90402", String(version));
    const files = { ...mi300Server.files, [path]: properties };
    const finding = await probe(without({ ...mi300Server, files }, "/opt/rocm/bin/rocminfo"));
    expect("devices" in finding && finding.devices[0]?.name).toBe(`AMD GPU (${target})`);
  });

  it("does not take the memory use of a whole card for that of one of its partitions", async () => {
    const path = "/sys/class/kfd/kfd/topology/nodes/1/mem_banks/0/properties";
    const files = { ...mi300Server.files, [path]: "heap_type 1\nsize_in_bytes 25767706624\n" };
    const finding = await probe({ ...mi300Server, files });
    expect("devices" in finding && finding.devices[0]?.memory).toEqual({ totalBytes: 25_767_706_624 });
  });

  it("obeys the lists that hide devices, one after the other", async () => {
    expect(await freeMemory({ HIP_VISIBLE_DEVICES: "1" })).toEqual([freeOfSecond]);
    expect(await freeMemory({ CUDA_VISIBLE_DEVICES: "1,0" })).toEqual([freeOfSecond, freeOfFirst]);
    expect(await freeMemory({ ROCR_VISIBLE_DEVICES: "1", HIP_VISIBLE_DEVICES: "0" })).toEqual([freeOfSecond]);
    expect(await freeMemory({ ROCR_VISIBLE_DEVICES: "GPU-3cbe002bd3b6313d" })).toEqual([freeOfFirst]);
    expect(await freeMemory({ HIP_VISIBLE_DEVICES: "-1" })).toBe('HIP_VISIBLE_DEVICES="-1" hides every AMD GPU (2 installed)');
  });

  it.each<[string, Recording, string]>([
    ["no driver", noGpu, "no AMD GPU compute driver on this machine (/sys/class/kfd not found)"],
    [
      "a container without the device",
      without(mi300Server, "/dev/kfd"),
      "the kernel lists AMD GPUs, but /dev/kfd is not here for this process",
    ],
    ["Windows", windowsLaptop, "ROCm devices are looked for on Linux only, and this is win32"],
  ])("says why there is nothing: %s", async (_, recording, reason) => {
    expect(await probe(recording)).toEqual({ absent: reason });
  });
});
