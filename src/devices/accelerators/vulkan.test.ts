import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { loaderCache, recordedSources } from "../../../test/devices/recorded/recording.ts";
import { mesaWithoutDevice, radeonNotebook, softwareVulkan } from "../../../test/devices/recorded/vulkan-machines.ts";
import { probeVulkan } from "./vulkan.ts";

const probe = (recording: Recording) => probeVulkan(recordedSources(recording));
const withoutTool = (recording: Recording, more: Record<string, string> = {}): Recording => ({
  ...recording,
  files: { ...Object.fromEntries(Object.entries(recording.files).filter(([path]) => path !== "/usr/bin/vulkaninfo")), ...more },
});

describe("probeVulkan", () => {
  it("finds the real device, and numbers it without the software one before it", async () => {
    expect(await probe(radeonNotebook)).toEqual({
      devices: [
        {
          device: { type: "vulkan", index: 0 },
          name: "AMD Radeon Graphics (RADV GFX1150)",
          source: "vulkaninfo --summary",
          driverVersion: "Mesa 24.0.5",
        },
      ],
    });
  });

  it("does not take lavapipe for a GPU, and starts nothing to find that out", async () => {
    const sources = recordedSources(softwareVulkan);
    expect(await probeVulkan(sources)).toEqual({
      absent: "Vulkan has only a software driver here (lvp_icd.x86_64.json), which computes on the processor",
    });
    expect(sources.commandsRun).toEqual([]);
  });

  it("does not take llvmpipe for a GPU where hardware drivers are installed without hardware", async () => {
    expect(await probe(mesaWithoutDevice)).toEqual({
      absent: "Vulkan has only software devices here (llvmpipe (LLVM 17.0.6, 256 bits))",
    });
  });

  it("obeys the variable that chooses drivers", async () => {
    const environment = { ...radeonNotebook.environment, VK_DRIVER_FILES: "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json" };
    expect(await probe({ ...radeonNotebook, environment })).toEqual({
      absent: expect.stringContaining("only a software driver"),
    });
  });

  it("says what vulkaninfo said when it fails", async () => {
    const commands = {
      "/usr/bin/vulkaninfo --summary": { ok: false, stdout: "", reason: "Cannot create Vulkan instance." } as const,
    };
    expect(await probe({ ...radeonNotebook, commands })).toEqual({
      absent: "a Vulkan driver is installed, but vulkaninfo fails: Cannot create Vulkan instance",
    });
  });

  it("says when there is no loader, and when a loader has no driver", async () => {
    expect(await probe(noGpu)).toEqual({ absent: "no Vulkan loader on this machine (libvulkan.so.1 not found)" });
    const files = { "/etc/ld.so.cache": loaderCache("/lib/x86_64-linux-gnu/libvulkan.so.1") };
    expect(await probe({ ...softwareVulkan, files })).toEqual({ absent: expect.stringContaining("but no driver for it") });
  });
});

describe("probeVulkan without vulkaninfo", () => {
  it("trusts a single render node whose vendor has a driver", async () => {
    const finding = await probe(withoutTool(radeonNotebook));
    expect("devices" in finding && finding.devices).toEqual([expect.objectContaining({ name: "PCI device 0x1002:0x150e" })]);
  });

  it("names none of several, because only the loader knows their order", async () => {
    const more = { "/sys/class/drm/renderD129/device/vendor": "0x8086\n" };
    expect(await probe(withoutTool(radeonNotebook, more))).toEqual({
      absent: expect.stringContaining("2 devices have a Vulkan driver"),
    });
  });

  it("counts no device whose vendor has no driver here", async () => {
    const more = { "/sys/class/drm/renderD128/device/vendor": "0x10de\n" };
    expect(await probe(withoutTool(radeonNotebook, more))).toEqual({
      absent: expect.stringContaining("no device of it was found"),
    });
  });
});
