/**
 * A laptop with an Intel Core Ultra, an NVIDIA card and a neural processor. Composed in the layout of `reg query /s`; one adapter
 * was taken out of the machine some time ago and is still listed.
 */
import type { Recording } from "./recording.ts";
import { windowsFeatureNumbers } from "../../../src/devices/cpu/cpu-features.ts";
import { h200Query } from "./h200-server.ts";

const system = "C:\\Windows\\System32";

/** The command line with which device detection asks Windows for the instruction sets of the processor. */
export const windowsPowerShell: string =
  `${system}\\WindowsPowerShell\\v1.0\\powershell.exe -NoLogo -NoProfile -NonInteractive -Command ` +
  `$processor = Add-Type -Namespace Inferyard -Name Processor -PassThru -MemberDefinition ` +
  `'[DllImport("kernel32.dll")] public static extern bool IsProcessorFeaturePresent(uint number);'; ` +
  `(${windowsFeatureNumbers.join(",")} | Where-Object { $processor::IsProcessorFeaturePresent($_) }) -join ','`;

/** Output of `reg query /s` on the DirectX registry key: a software renderer, two GPUs, and a GPU that was removed from the machine. */
export const windowsAdapters: string = `
HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\DirectX
    Version    REG_SZ    4.09.00.0904
    InstalledVersion    REG_BINARY    0000000900000000
    LastSeen    REG_QWORD    0x1dd4bc5becc1029

HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\DirectX\\{238B5620-0000-11EF-8BB2-000000000001}
    Description    REG_SZ    Microsoft Basic Render Driver
    AdapterLuid    REG_QWORD    0x12a33
    VendorId    REG_DWORD    0x1414
    DedicatedVideoMemory    REG_QWORD    0x0
    MaxD3D12FeatureLevel    REG_DWORD    0xc100
    LastSeen    REG_QWORD    0x1dd4bc5becc1029

HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\DirectX\\{238B5633-0000-11EF-8BB2-000000000002}
    Description    REG_SZ    Intel(R) Arc(TM) Graphics
    AdapterLuid    REG_QWORD    0x12a5e
    VendorId    REG_DWORD    0x8086
    DedicatedVideoMemory    REG_QWORD    0x8000000
    MaxD3D12FeatureLevel    REG_DWORD    0xc200
    DriverVersion    REG_QWORD    0x20000000651f76
    LastSeen    REG_QWORD    0x1dd4bc5becc1029

HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\DirectX\\{4591AAB8-0000-11EF-8BB3-000000000003}
    Description    REG_SZ    NVIDIA GeForce RTX 4070 Laptop GPU
    AdapterLuid    REG_QWORD    0x11524
    VendorId    REG_DWORD    0x10de
    DedicatedVideoMemory    REG_QWORD    0x1f5100000
    MaxD3D12FeatureLevel    REG_DWORD    0xc200
    LastSeen    REG_QWORD    0x1dd4bc5becc1029

HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\DirectX\\{5691AAB8-0000-11EF-8BB3-000000000004}
    Description    REG_SZ    AMD Radeon RX 580 Series
    AdapterLuid    REG_QWORD    0xd1c7
    VendorId    REG_DWORD    0x1002
    DedicatedVideoMemory    REG_QWORD    0x200000000
    MaxD3D12FeatureLevel    REG_DWORD    0xc000
    LastSeen    REG_QWORD    0x1dc00b5becc1029
`.replaceAll("\n", "\r\n");

const neuralProcessors = `
HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}
    Class    REG_SZ    ComputeAccelerator

HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}\\0000
    DriverDesc    REG_SZ    Intel(R) AI Boost
    ProviderName    REG_SZ    Intel Corporation
    DriverVersion    REG_SZ    32.0.100.3104
`.replaceAll("\n", "\r\n");

/** Windows on x64 with an Intel Arc GPU, an NVIDIA GeForce RTX 4070 and an Intel NPU; 32 GiB. */
export const windowsLaptop: Recording = {
  platform: "win32",
  architecture: "x64",
  environment: { SystemRoot: "C:\\Windows", PATH: `${system};C:\\Program Files\\nodejs` },
  files: { [`${system}\\d3d12.dll`]: "", [`${system}\\nvcuda.dll`]: "", [`${system}\\nvidia-smi.exe`]: "" },
  commands: {
    [`${system}\\reg.exe query HKLM\\SOFTWARE\\Microsoft\\DirectX /s`]: windowsAdapters,
    // A subkey that only the system may read makes reg.exe fail after it has printed the others.
    [`${system}\\reg.exe query HKLM\\SYSTEM\\CurrentControlSet\\Control\\Class\\{f01a9d53-3ff6-48d2-9f97-c8a7004be10c} /s`]: {
      ok: false,
      stdout: neuralProcessors,
      reason: "ERROR: Access is denied.",
    },
    [`${system}\\nvidia-smi.exe --query-gpu=${h200Query} --format=csv,noheader,nounits`]:
      "GPU-3c000000-0000-4000-8000-000000000003, NVIDIA GeForce RTX 4070 Laptop GPU, 8188, 7900, 576.52, 8.9, [N/A]\r\n",
    [`${system}\\nvidia-smi.exe `]:
      "| NVIDIA-SMI 576.52                 Driver Version: 576.52         CUDA Version: 12.9     |\r\n",
    [windowsPowerShell]: "38,39,40\r\n",
  },
  cpuModel: "Intel(R) Core(TM) Ultra 7 155H",
  processors: 22,
  totalMemory: 32 * 1024 ** 3,
  freeMemory: 20 * 1024 ** 3,
};
