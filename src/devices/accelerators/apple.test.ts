import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { probeCoreMl, probeMetal } from "./apple.ts";
import { macM3 } from "../../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";

const command = "/usr/sbin/system_profiler -json SPDisplaysDataType";
const withDisplays = (answer: Recording["commands"][string]): Recording => ({ ...macM3, commands: { [command]: answer } });

describe("probeMetal", () => {
  it("finds the GPU of an Apple chip, which has no memory of its own to report", async () => {
    expect(await probeMetal(recordedSources(macM3))).toEqual({
      devices: [{ device: { type: "metal", index: 0 }, name: "Apple M3", source: "system_profiler SPDisplaysDataType" }],
    });
  });

  it("reads the memory of a card, and leaves out one that Metal does not support", async () => {
    const displays = [
      { sppci_model: "NVIDIA GeForce 320M", spdisplays_vram: "256 MB" },
      { sppci_model: "AMD Radeon Pro 5500M", spdisplays_vram: "8 GB", spdisplays_mtlgpufamilysupport: "spdisplays_metal3" },
      { sppci_model: "Old card", spdisplays_metal: "spdisplays_notsupported" },
    ];
    const finding = await probeMetal(recordedSources(withDisplays(JSON.stringify({ SPDisplaysDataType: displays }))));
    expect("devices" in finding && finding.devices).toEqual([
      expect.objectContaining({
        name: "AMD Radeon Pro 5500M",
        device: { type: "metal", index: 0 },
        memory: { totalBytes: 8 * 1024 ** 3 },
      }),
    ]);
  });

  it.each<[string, Recording["commands"][string], string]>([
    ["it was cut off", '{ "SPDisplays', "system_profiler printed something other than its JSON"],
    ["it lists nothing", '{ "SPDisplaysDataType" : [] }', "system_profiler lists no GPU that supports Metal"],
    [
      "it hangs",
      { ok: false, stdout: "", reason: "no answer within 2000 ms" },
      "system_profiler fails: no answer within 2000 ms",
    ],
  ])("says why there is nothing when %s", async (_, answer, reason) => {
    expect(await probeMetal(recordedSources(withDisplays(answer)))).toEqual({ absent: reason });
  });
});

describe("probeCoreMl", () => {
  it("finds the framework on macOS and only there", async () => {
    expect(await probeCoreMl(recordedSources(macM3))).toEqual({
      devices: [expect.objectContaining({ device: { type: "coreml", index: 0 }, name: "Core ML on Apple M3" })],
    });
    expect(await probeCoreMl(recordedSources(noGpu))).toEqual({ absent: "Core ML needs macOS, and this is linux" });
  });
});
