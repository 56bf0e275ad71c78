import { describe, expect, it } from "vitest";
import { probeOpenVino } from "./openvino.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { loaderCache, recordedSources } from "../../../test/devices/recorded/recording.ts";

const cached = (path: string) => probeOpenVino(recordedSources({ ...noGpu, files: { "/etc/ld.so.cache": loaderCache(path) } }));

describe("probeOpenVino", () => {
  it("finds the runtime under its versioned name, and no library of a similar name", async () => {
    expect(await cached("/usr/lib/x86_64-linux-gnu/libopenvino.so.2541")).toEqual({
      devices: [expect.objectContaining({ source: "/usr/lib/x86_64-linux-gnu/libopenvino.so.2541" })],
    });
    expect(await cached("/usr/lib/libopenvino_c.so.2541")).toEqual({
      absent: "no OpenVINO runtime on this machine (libopenvino not found)",
    });
  });

  it("finds it on a system whose loader keeps no cache", async () => {
    const finding = await probeOpenVino(recordedSources({ ...noGpu, files: { "/usr/lib/libopenvino.so.2500": "" } }));
    expect(finding).toHaveProperty("devices");
  });

  it("finds Intel's archive once its variables are set", async () => {
    const files = { "/opt/intel/openvino/runtime/lib/intel64/libopenvino.so": "" };
    const finding = await probeOpenVino(
      recordedSources({ ...noGpu, files, environment: { INTEL_OPENVINO_DIR: "/opt/intel/openvino" } }),
    );
    expect(finding).toHaveProperty("devices");
  });
});
