import { describe, expect, it } from "vitest";
import type { DeviceAvailability, MachineFacts } from "../../contract/backend.ts";
import { readMachine } from "../../devices/index.ts";
import { a100Instances } from "../../../test/devices/recorded/a100-instances.ts";
import { h200Server } from "../../../test/devices/recorded/h200-server.ts";
import { macM3 } from "../../../test/devices/recorded/mac-m3.ts";
import { noGpu } from "../../../test/devices/recorded/no-gpu.ts";
import { recordedSources, type Recording } from "../../../test/devices/recorded/recording.ts";
import { classRules } from "../analysis/library-classes.ts";
import type { InstalledLibrary } from "../inventory/installed-library.ts";
import { acceleratorDescriptions } from "./accelerator-table.ts";
import {
  type AcceleratorOptions,
  type CudaDevice,
  type ProbedBackend,
  acceleratorInfo,
  availableAccelerators,
  isAcceleratorAvailable,
  listAccelerators,
} from "./index.ts";

const machineOf = (recording: Recording): Promise<MachineFacts> => readMachine({ sources: recordedSources(recording) });

/** A library of a class, as the inventory has it. */
function library(name: string, changes: Partial<InstalledLibrary> = {}): InstalledLibrary {
  const path = `/lib/${name}.so`;
  const classes = [{ name, title: name, confidence: "certain", variant: undefined, evidence: [] }] as const;
  return { path, paths: [path], bytes: 1, foundBy: ["test"], classes, fits: true, problems: [], ...changes };
}

async function facts(recording: Recording, ...names: readonly string[]): Promise<AcceleratorOptions> {
  return { machine: await machineOf(recording), libraries: names.map((name) => library(name)), driver: { problem: "test" } };
}

/** Limits of NVIDIA's data sheet and CUDA's programming guide for compute capability 9.0. */
const h200: CudaDevice = {
  name: "NVIDIA H200",
  totalBytes: 150_109_880_320,
  computeCapability: "9.0",
  multiprocessors: 132,
  sharedMemory: { perBlockBytes: 49_152, perBlockOptInBytes: 232_448, perMultiprocessorBytes: 233_472 },
};

function probed(backend: string, type: string, state: DeviceAvailability["state"]): ProbedBackend {
  const devices = [{ device: { type, index: 0 }, state, reason: "test" }];
  return { backend, availability: { present: true, library: { name: backend, version: "1" }, devices } };
}

describe("accelerators", () => {
  it("are the fourteen of PyTorch, each with what uses it or that nothing does", async () => {
    const all = await listAccelerators(await facts(noGpu));
    const names = "cuda mps cudnn cusparselt cpu mkl mkldnn openmp xeon nki triton mha nnpack opt_einsum";
    expect(all.map(({ name }) => name)).toEqual(names.split(" "));
    for (const { targets, use, reason } of all) {
      expect(use.startsWith("not used")).toBe(targets.length === 0);
      expect(reason).toMatch(/[^.\s]$/);
    }
  });

  it("require classes that analysis knows", () => {
    const known = new Set(classRules.map(({ name }) => name));
    expect(
      acceleratorDescriptions.flatMap(({ requiredLibraries }) => requiredLibraries).filter((name) => !known.has(name)),
    ).toEqual([]);
  });

  it("have the processor alone on a machine without GPU and libraries", async () => {
    expect(await availableAccelerators(await facts(noGpu))).toEqual(["cpu"]);
    const cpu = await acceleratorInfo("cpu", await facts(noGpu));
    expect(cpu.devices).toEqual([
      {
        name: expect.any(String),
        source: expect.any(String),
        memory: { totalBytes: expect.any(Number), freeBytes: expect.any(Number) },
        dataTypes: ["float64", "float32", "bfloat16", "int8"],
      },
    ]);
  });

  it("call a library present, not available", async () => {
    expect(await acceleratorInfo("openmp", await facts(noGpu, "openmp"))).toMatchObject({
      state: "present",
      reason: "found /lib/openmp.so",
      libraries: [{ path: "/lib/openmp.so" }],
    });
    const cudnn = await acceleratorInfo("cudnn", await facts(noGpu, "cudnn"));
    expect(cudnn).toMatchObject({ state: "present", reason: expect.stringContaining("no NVIDIA driver") as string });
    expect(await availableAccelerators(await facts(h200Server, "cuda-driver", "cuda-runtime", "cudnn"))).not.toContain("cuda");
  });

  it("need all their libraries, beyond a name, that fit the machine", async () => {
    const machine = await machineOf(noGpu);
    const named = library("mkl", { classes: library("mkl").classes.map((each) => ({ ...each, confidence: "possible" })) });
    for (const unusable of [named, library("mkl", { fits: false })]) {
      expect(await acceleratorInfo("mkl", { machine, libraries: [unusable] })).toMatchObject({ state: "absent", libraries: [] });
    }
    const half = await acceleratorInfo("cuda", await facts(noGpu, "cuda-runtime"));
    expect(half).toMatchObject({ state: "absent" });
    expect(half.reason).toMatch(
      /^found \/lib\/cuda-runtime\.so; no library that fits this machine: cuda-driver; no NVIDIA driver/,
    );
  });

  it("are no device where there are its libraries alone, and are where the driver states one", async () => {
    const options = await facts(noGpu, "cuda-driver", "cuda-runtime");
    expect(await acceleratorInfo("cuda", options)).toMatchObject({ state: "absent", devices: [] });
    expect(await acceleratorInfo("cuda", { ...options, driver: { devices: [h200] } })).toMatchObject({
      state: "present",
      reason: "NVIDIA H200 (NVIDIA's driver library)",
      devices: [{ name: "NVIDIA H200", computeCapability: "9.0", multiprocessors: 132, memory: { totalBytes: h200.totalBytes } }],
    });
  });

  it("read memory and compute capability from the device", async () => {
    const cuda = await acceleratorInfo("cuda", await facts(h200Server));
    expect(cuda.state).toBe("present");
    expect(cuda.devices[0]).toMatchObject({ computeCapability: "9.0", memory: { totalBytes: expect.any(Number) as number } });
    const mps = await acceleratorInfo("mps", await facts(macM3));
    expect(mps.state).toBe("present");
    expect(mps.devices).toHaveLength(1);
  });

  it("read shared memory and data types from NVIDIA's driver", async () => {
    const options = await facts(h200Server);
    const [known] = (await acceleratorInfo("cuda", { ...options, driver: { devices: [h200] } })).devices;
    const { totalBytes: _, ...limits } = h200;
    expect(known).toMatchObject(limits);
    expect(known).not.toHaveProperty("limitsProblem");
    expect(known?.dataTypes).toEqual(
      "float64 float32 tfloat32 float16 bfloat16 float8_e4m3 float8_e5m2 int8".split(" "), // no float4 before 10.0
    );
    const [unknown] = (await acceleratorInfo("cuda", options)).devices;
    expect(unknown).toMatchObject({ limitsProblem: "test", dataTypes: known?.dataTypes, computeCapability: "9.0" });
    expect(unknown).not.toHaveProperty("sharedMemory");
    const [other] = (await acceleratorInfo("cuda", { ...options, driver: { devices: [{ ...h200, name: "NVIDIA L4" }] } }))
      .devices;
    expect(other?.limitsProblem).toBe("the NVIDIA driver lists no NVIDIA H200");
  });

  it("read the memory of a part of a GPU from NVIDIA's driver, since nvidia-smi has none", async () => {
    const options = await facts(a100Instances);
    const cuda = await acceleratorInfo("cuda", options);
    const { name = "", memory } = cuda.devices[0] ?? {};
    expect([name, memory]).toEqual([expect.stringContaining(" MIG "), undefined]);
    const part: CudaDevice = { ...h200, name, totalBytes: 5_100_273_664, computeCapability: "8.0" };
    const [device] = (await acceleratorInfo("cuda", { ...options, driver: { devices: [part] } })).devices;
    expect(device).toMatchObject({ memory: { totalBytes: 5_100_273_664 }, computeCapability: "8.0" });
    expect(device?.dataTypes).not.toContain("float8_e4m3");
  });

  it("are available once a target of theirs has computed", async () => {
    const options = await facts(h200Server, "cudnn");
    const ran = { ...options, backends: [probed("onnx", "cuda", "available")] };
    expect(await isAcceleratorAvailable("cuda", ran)).toBe(true);
    expect(await acceleratorInfo("cudnn", ran)).toMatchObject({ state: "available", reason: "onnx:cuda computed on it" });
    expect(await isAcceleratorAvailable("cuda", { ...options, backends: [probed("onnx", "cuda", "present")] })).toBe(false);
    expect(await isAcceleratorAvailable("cuda", { ...options, backends: [probed("other", "cuda", "available")] })).toBe(false);
    const missing: ProbedBackend = { backend: "onnx", availability: { present: false, reason: "test" } };
    expect(await isAcceleratorAvailable("cuda", { ...options, backends: [missing] })).toBe(false);
  });

  it("tell a Xeon by the name of the processor", async () => {
    const machine = await machineOf(noGpu);
    const model = { value: "Intel(R) Xeon(R) Platinum 8480+", source: "test" };
    const xeon = { machine: { ...machine, cpu: { ...machine.cpu, model } }, libraries: [] };
    expect(await isAcceleratorAvailable("xeon", xeon)).toBe(true);
    const other = { ...xeon, machine: { ...machine, cpu: { ...machine.cpu, model: { value: "AMD EPYC", source: "test" } } } };
    expect(await acceleratorInfo("xeon", other)).toMatchObject({ state: "absent", reason: "the processor is AMD EPYC" });
  });

  it("take names in any case", async () => {
    const options = await facts(noGpu);
    expect(await acceleratorInfo("CUDA", options)).toEqual(await acceleratorInfo("cuda", options));
  });

  it("refuse a name that PyTorch does not have, and list those it has", async () => {
    const options = await facts(noGpu);
    const refused = { code: "INPUT_INVALID", remedy: expect.stringMatching(/^name one of cuda, mps, .*, opt_einsum$/) as string };
    await expect(acceleratorInfo("gpu", options)).rejects.toMatchObject(refused);
    await expect(isAcceleratorAvailable("toString", options)).rejects.toMatchObject(refused);
  });
});
