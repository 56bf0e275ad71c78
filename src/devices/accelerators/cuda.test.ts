import { describe, expect, it } from "vitest";
import type { Recording } from "../../../test/devices/recorded/recording.ts";
import type { CommandOutput } from "../sources.ts";
import { probeCuda } from "./cuda.ts";
import { a100Instances } from "../../../test/devices/recorded/a100-instances.ts";
import { h200Banner, h200Query, h200Server } from "../../../test/devices/recorded/h200-server.ts";
import { macM3 } from "../../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources } from "../../../test/devices/recorded/recording.ts";
import { twoGpuBox } from "../../../test/devices/recorded/two-gpu-box.ts";
import { windowsLaptop } from "../../../test/devices/recorded/windows-laptop.ts";

const mebibyte = 1024 ** 2;
const queryCommand = `/usr/bin/nvidia-smi --query-gpu=${h200Query} --format=csv,noheader,nounits`;
const probe = (recording: Recording) => probeCuda(recordedSources(recording));
const withVisible = (recording: Recording, list: string): Recording => ({
  ...recording,
  environment: { ...recording.environment, CUDA_VISIBLE_DEVICES: list },
});
const failing = (reason: string): CommandOutput => ({ ok: false, stdout: "", reason });

async function sourceOfFirst(environment: Record<string, string>): Promise<string | undefined> {
  const finding = await probe({ ...twoGpuBox, environment: { PATH: "/usr/bin", ...environment } });
  return "devices" in finding ? finding.devices[0]?.source : undefined;
}

async function names(recording: Recording): Promise<readonly string[]> {
  const finding = await probe(recording);
  return "absent" in finding ? [finding.absent] : finding.devices.map(({ device, name }) => `${device.index} ${name}`);
}

describe("probeCuda finds devices", () => {
  it("keeps the chip's capability and the driver's CUDA version apart", async () => {
    expect(await probe(h200Server)).toEqual({
      devices: [
        {
          device: { type: "cuda", index: 0 },
          name: "NVIDIA H200",
          source: "nvidia-smi",
          memory: { totalBytes: 143771 * mebibyte, freeBytes: 143153 * mebibyte },
          computeCapability: "9.0",
          cudaVersion: "13.0",
          driverVersion: "580.159.03",
        },
      ],
    });
  });

  it("numbers the visible device from 0, as the engine will, and reads the newer banner", async () => {
    const finding = await probe(twoGpuBox);
    expect(finding).toEqual({
      devices: [
        expect.objectContaining({
          device: { type: "cuda", index: 0 },
          name: "NVIDIA GeForce RTX 4090",
          cudaVersion: "13.3",
          computeCapability: "8.9",
        }),
      ],
    });
  });

  it("follows the order of the list", async () => {
    expect(await names(withVisible(twoGpuBox, "GPU-2b,0"))).toEqual(["0 NVIDIA GeForce RTX 4090", "1 NVIDIA GeForce RTX 3060"]);
  });

  it("warns that CUDA may number different cards otherwise, unless it was told not to", async () => {
    expect(await sourceOfFirst({})).toContain("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    expect(await sourceOfFirst({ CUDA_DEVICE_ORDER: "PCI_BUS_ID" })).toBe("nvidia-smi");
  });

  it("leaves out memory that the driver does not know, as on chips that share the machine's", async () => {
    const row = "GPU-5f000000-0000-4000-8000-000000000005, NVIDIA GB10, [N/A], [N/A], 580.126.09, 12.1, [N/A]\n";
    const finding = await probe({ ...h200Server, commands: { ...h200Server.commands, [queryCommand]: row } });
    const [device] = "devices" in finding ? finding.devices : [];
    expect(device).toMatchObject({ name: "NVIDIA GB10", computeCapability: "12.1" });
    expect(device).not.toHaveProperty("memory");
  });

  it("asks an old driver again without the fields it lacks", async () => {
    const commands = {
      [queryCommand]: failing('Field "compute_cap" is not a valid field to query.'),
      "/usr/bin/nvidia-smi --query-gpu=uuid,name,memory.total,memory.free,driver_version --format=csv,noheader,nounits":
        "GPU-6a000000-0000-4000-8000-000000000006, Tesla T4, 15109, 15000, 440.33.01\n",
      "/usr/bin/nvidia-smi ": "| NVIDIA-SMI 440.33.01    Driver Version: 440.33.01    CUDA Version: 10.2     |\n",
    };
    const finding = await probe({ ...h200Server, commands });
    const [device] = "devices" in finding ? finding.devices : [];
    expect(device).toMatchObject({ name: "Tesla T4", cudaVersion: "10.2", memory: { totalBytes: 15109 * mebibyte } });
    expect(device).not.toHaveProperty("computeCapability");
  });

  it("reports the device without a CUDA version when only the banner fails", async () => {
    const commands = { ...h200Server.commands, "/usr/bin/nvidia-smi ": failing("no answer within 2000 ms") };
    const finding = await probe({ ...h200Server, commands });
    const [device] = "devices" in finding ? finding.devices : [];
    expect(device?.name).toBe("NVIDIA H200");
    expect(device).not.toHaveProperty("cudaVersion");
  });

  it("finds the driver of a Windows laptop", async () => {
    expect(await names(windowsLaptop)).toEqual(["0 NVIDIA GeForce RTX 4070 Laptop GPU"]);
  });

  it("finds nvidia-smi where WSL puts it", async () => {
    const files = { "/etc/ld.so.cache": "x\0/usr/lib/wsl/lib/libcuda.so.1\0", "/usr/lib/wsl/lib/nvidia-smi": "" };
    const commands = {
      [queryCommand.replace("/usr/bin", "/usr/lib/wsl/lib")]: h200Server.commands[queryCommand] ?? "",
      "/usr/lib/wsl/lib/nvidia-smi ": h200Banner,
    };
    expect(await names({ ...h200Server, files, commands })).toEqual(["0 NVIDIA H200"]);
  });
});

describe("probeCuda with GPUs that are split", () => {
  it("gives the first instance in the GPU's place, without the memory of the whole", async () => {
    const finding = await probe(a100Instances);
    const devices = "devices" in finding ? finding.devices : [];
    expect(devices.map(({ name }) => name)).toEqual(["NVIDIA A100-SXM4-80GB MIG 3g.40gb", "NVIDIA A100-SXM4-80GB"]);
    expect(devices[0]).not.toHaveProperty("memory");
    expect(devices[1]?.memory?.totalBytes).toBe(81920 * mebibyte);
  });

  it("takes the instance that the list names, and only one", async () => {
    expect(await names(withVisible(a100Instances, "MIG-d0,MIG-c0"))).toEqual(["0 NVIDIA A100-SXM4-80GB MIG 1g.10gb"]);
  });
});

describe("probeCuda says why there is nothing", () => {
  it.each<[string, Recording, string]>([
    ["no driver", noGpu, "no NVIDIA driver on this machine (libcuda.so.1 not found)"],
    ["macOS", macM3, "macOS has no NVIDIA driver"],
    [
      "only a 32-bit driver library",
      { ...h200Server, files: { "/etc/ld.so.cache": "\0/lib/i386-linux-gnu/libcuda.so.1\0" } },
      "no NVIDIA driver on this machine (libcuda.so.1 not found)",
    ],
    [
      "a driver container whose library is not on the loader's path",
      { ...noGpu, files: { "/proc/driver/nvidia/version": "", "/usr/local/nvidia/lib64/libcuda.so.1": "" } },
      "the NVIDIA kernel driver is loaded, but its library is not where the loader looks (libcuda.so.1 not found)",
    ],
    [
      "no nvidia-smi",
      { ...h200Server, environment: {} },
      "the NVIDIA driver library is here (/lib/x86_64-linux-gnu/libcuda.so.1), but nvidia-smi is not on the PATH, and the kernel driver lists no GPU in /proc/driver/nvidia/gpus",
    ],
    [
      "a driver that was updated and not reloaded",
      {
        ...h200Server,
        commands: {
          [queryCommand]: failing("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.133\n"),
        },
      },
      "the NVIDIA driver is installed, but nvidia-smi fails: Failed to initialize NVML: Driver/library version mismatch NVML library version: 570.133",
    ],
    [
      "a full stop in the tool's message",
      {
        ...h200Server,
        commands: { [queryCommand]: failing("Make sure that the latest NVIDIA driver is installed and running.") },
      },
      "the NVIDIA driver is installed, but nvidia-smi fails: Make sure that the latest NVIDIA driver is installed and running",
    ],
    [
      "a driver without a card",
      { ...h200Server, commands: { ...h200Server.commands, [queryCommand]: "No devices were found\n" } },
      "the NVIDIA driver is installed, but lists no device: No devices were found",
    ],
    ["every device hidden", withVisible(twoGpuBox, "-1"), 'CUDA_VISIBLE_DEVICES="-1" hides every NVIDIA device (2 installed)'],
    [
      "every device hidden by an empty list",
      withVisible(h200Server, ""),
      'CUDA_VISIBLE_DEVICES="" hides every NVIDIA device (1 installed)',
    ],
  ])("%s", async (_, recording, reason) => {
    expect(await probe(recording)).toEqual({ absent: reason });
  });

  it("finds GPUs without nvidia-smi where the kernel driver lists them and their device node is here", async () => {
    const information = (name: string, minor: number, uuid: string): string =>
      `Model: \t\t ${name}\nIRQ:   \t\t 88\nGPU UUID: \t GPU-${uuid}\nVideo BIOS: \t ??.??.??\nBus Location: \t 0000:0${minor}:00.0\nDevice Minor: \t ${minor}\n`;
    const gpus = "/proc/driver/nvidia/gpus";
    const files = {
      ...h200Server.files,
      "/proc/driver/nvidia/version":
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (dvs-builder)  Sun Mar 30 13:50:00 UTC 2025\nGCC version: gcc 12\n",
      [`${gpus}/0000:01:00.0/information`]: information("NVIDIA H200", 0, "aa"),
      [`${gpus}/0000:02:00.0/information`]: information("NVIDIA L4", 1, "bb"),
      [`${gpus}/0000:03:00.0/information`]: information("NVIDIA L40S", 2, "cc"),
      "/dev/nvidia0": "",
      "/dev/nvidia1": "", // and none of the third
    };
    const machine = { ...h200Server, files, environment: {}, commands: {} };
    expect(await probe(machine)).toEqual({
      devices: ["NVIDIA H200", "NVIDIA L4"].map((name, index) => ({
        device: { type: "cuda", index },
        name,
        source: "/proc/driver/nvidia/gpus; nvidia-smi is not on the PATH",
        driverVersion: "570.133.20",
      })),
    });
    expect(await names(withVisible(machine, "GPU-bb"))).toEqual(["0 NVIDIA L4"]);
    expect(await probe(withVisible(machine, "-1"))).toEqual({
      absent: 'CUDA_VISIBLE_DEVICES="-1" hides every NVIDIA device (2 installed)',
    });
  });

  it("starts nothing where there is no driver library, although nvidia-smi is there", async () => {
    const sources = recordedSources({ ...h200Server, files: { "/usr/bin/nvidia-smi": "" } });
    await probeCuda(sources);
    expect(sources.commandsRun).toEqual([]);
  });

  it("believes LD_LIBRARY_PATH, as the loader does", async () => {
    const files = { "/usr/local/nvidia/lib64/libcuda.so.1": "", "/usr/bin/nvidia-smi": "" };
    const environment = { PATH: "/usr/bin", LD_LIBRARY_PATH: "/usr/local/nvidia/lib:/usr/local/nvidia/lib64" };
    expect(await names({ ...h200Server, files, environment })).toEqual(["0 NVIDIA H200"]);
  });
});
