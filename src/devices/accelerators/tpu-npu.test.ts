import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { probeNpu, probeTpu } from "./tpu-npu.ts";
import { macM3 } from "../../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";

const machine = (files: Record<string, string>): Recording => ({ ...noGpu, files });
const pci = (address: string, vendor: string, device: string): Record<string, string> => ({
  [`/sys/bus/pci/devices/${address}/vendor`]: `${vendor}\n`,
  [`/sys/bus/pci/devices/${address}/device`]: `${device}\n`,
});

async function names(probe: typeof probeTpu, files: Record<string, string>): Promise<readonly string[] | string> {
  const finding = await probe(recordedSources(machine(files)));
  return "absent" in finding ? finding.absent : finding.devices.map(({ device, name }) => `${device.index} ${name}`);
}

describe("probeTpu", () => {
  const networkCard = pci("0000:00:03.0", "0x1ae0", "0x0042");

  it("finds chips behind /dev/accel0, and not Google's network card", async () => {
    const chips = { ...pci("0000:00:05.0", "0x1ae0", "0x005e"), ...pci("0000:00:06.0", "0x1ae0", "0x005e") };
    expect(await names(probeTpu, { "/dev/accel0": "", ...networkCard, ...chips })).toEqual([
      "0 Google TPU v4",
      "1 Google TPU v4",
    ]);
  });

  it("finds a chip in a VFIO group of this container, and not those of other groups", async () => {
    const files = {
      "/dev/vfio/vfio": "",
      "/dev/vfio/1": "",
      "/sys/kernel/iommu_groups/1/devices/0000:00:05.0/vendor": "0x1ae0",
      ...pci("0000:00:05.0", "0x1ae0", "0x0063"),
      ...pci("0000:00:06.0", "0x1ae0", "0x0063"),
    };
    expect(await names(probeTpu, files)).toEqual(["0 Google TPU v5e"]);
  });

  it("does not take another vendor's device in VFIO for a TPU", async () => {
    const files = {
      "/dev/vfio/7": "",
      "/sys/kernel/iommu_groups/7/devices/0000:01:00.0/vendor": "0x10de",
      ...pci("0000:01:00.0", "0x10de", "0x2330"),
    };
    expect(await names(probeTpu, files)).toBe("no TPU on this machine (the devices in /dev are not Google's)");
  });

  it("tells where libtpu is, when there is a chip for it", async () => {
    const files = { "/dev/accel0": "", "/opt/libtpu.so": "", ...pci("0000:00:05.0", "0x1ae0", "0x006f") };
    const finding = await probeTpu(recordedSources({ ...machine(files), environment: { TPU_LIBRARY_PATH: "/opt/libtpu.so" } }));
    expect("devices" in finding && finding.devices[0]?.source).toBe("/sys/bus/pci/devices/0000:00:05.0, /opt/libtpu.so");
  });

  it("says that there is none", async () => {
    expect(await names(probeTpu, {})).toBe("no TPU on this machine (neither /dev/accel0 nor a device in /dev/vfio)");
  });
});

describe("probeNpu", () => {
  const node = "/sys/class/accel/accel0/device";

  it("finds Intel's and AMD's processors by vendor", async () => {
    const intel = { [`${node}/vendor`]: "0x8086\n", [`${node}/device`]: "0x7d1d\n", "/dev/accel/accel0": "" };
    expect(await names(probeNpu, intel)).toEqual(["0 Intel NPU (PCI device 0x8086:0x7d1d)"]);
    const amd = { [`${node}/vendor`]: "0x1022\n", [`${node}/vbnv`]: "RyzenAI-npu4\n", "/dev/accel/accel0": "" };
    expect(await names(probeNpu, amd)).toEqual(["0 AMD NPU RyzenAI-npu4"]);
  });

  it("does not offer one that was not given to this container", async () => {
    expect(await names(probeNpu, { [`${node}/vendor`]: "0x8086\n" })).toContain(
      "its node in /dev/accel is not here for this process",
    );
  });

  it("does not take another vendor's accelerator for a neural processor", async () => {
    expect(await names(probeNpu, { [`${node}/vendor`]: "0x1da3\n", "/dev/accel/accel0": "" })).toContain(
      "accel0 in /sys/class/accel is another vendor's",
    );
  });

  it("says that there is none, on Linux and on macOS", async () => {
    expect(await names(probeNpu, {})).toBe("no neural processor on this machine (/sys/class/accel is empty)");
    expect(await probeNpu(recordedSources(macM3))).toEqual({ absent: "macOS opens its neural engine to Core ML only" });
  });
});
