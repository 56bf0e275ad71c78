import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { windowsAdapters, windowsLaptop } from "../../../test/devices/recorded/windows-laptop.ts";
import { findWindowsNeuralProcessors, probeDirectMl } from "./windows.ts";

const command = "C:\\Windows\\System32\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\DirectX /s";
const withAdapters = (answer: Recording["commands"][string]): Recording => ({
  ...windowsLaptop,
  commands: { [command]: answer },
});

async function devices(recording: Recording) {
  const finding = await probeDirectMl(recordedSources(recording));
  return "devices" in finding ? finding.devices : [];
}

describe("probeDirectMl", () => {
  it("lists the adapters that are in the machine: neither Microsoft's software one nor a card that was taken out", async () => {
    const found = await devices(windowsLaptop);
    expect(found.map(({ device, name }) => `${device.index} ${name}`)).toEqual([
      "0 Intel(R) Arc(TM) Graphics",
      "1 NVIDIA GeForce RTX 4070 Laptop GPU",
    ]);
    expect(found[1]?.memory).toEqual({ totalBytes: 0x1f5100000 });
    expect(found[0]?.driverVersion).toBe("32.0.101.8054");
    expect(found[0]?.source).toContain("DXGI may number them otherwise");
  });

  it("leaves out an adapter below Direct3D 12, and keeps one whose level Windows has not recorded", async () => {
    const text = windowsAdapters
      .replace("    MaxD3D12FeatureLevel    REG_DWORD    0xc200\r\n    DriverVersion", "    DriverVersion")
      .replace("0xc200", "0x0");
    const found = await devices(withAdapters(text));
    expect(found.map(({ name }) => name)).toEqual(["Intel(R) Arc(TM) Graphics"]);
    expect(found[0]?.source).toContain("feature level is not recorded");
  });

  it.each<[string, Recording, string]>([
    ["another system", noGpu, "DirectML needs Windows, and this is linux"],
    [
      "Windows without Direct3D 12",
      { ...windowsLaptop, files: {} },
      "no Direct3D 12 on this machine (C:\\Windows\\System32\\d3d12.dll not found)",
    ],
    [
      "a virtual machine with Microsoft's software adapter",
      withAdapters(windowsAdapters.replaceAll(/0x(?:8086|10de)/g, "0x1414")),
      "no graphics adapter besides Microsoft's software ones",
    ],
    [
      "a registry that may not be read",
      withAdapters({ ok: false, stdout: "", reason: "ERROR: Access is denied." }),
      "the list of graphics adapters cannot be read: ERROR: Access is denied",
    ],
  ])("says why there is nothing: %s", async (_, recording, reason) => {
    expect(await probeDirectMl(recordedSources(recording))).toEqual({ absent: reason });
  });
});

describe("findWindowsNeuralProcessors", () => {
  it("finds one although reg.exe fails over a subkey that only the system may read", async () => {
    expect(await findWindowsNeuralProcessors(recordedSources(windowsLaptop))).toEqual({
      devices: [
        expect.objectContaining({ device: { type: "npu", index: 0 }, name: "Intel(R) AI Boost", driverVersion: "32.0.100.3104" }),
      ],
    });
  });

  it("says that there is none where the key is missing", async () => {
    const finding = await findWindowsNeuralProcessors(recordedSources({ ...windowsLaptop, commands: {} }));
    expect(finding).toEqual({ absent: expect.stringContaining("no driver of a neural processor") });
  });
});
