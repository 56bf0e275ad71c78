import { describe, expect, it } from "vitest";
import type { AcceleratorInfo } from "../../libraries/accelerators/index.ts";
import type { InstalledLibrary } from "../../libraries/inventory/index.ts";
import { formatAccelerators } from "./format-accelerators.ts";
import { formatLibraries } from "./format-libraries.ts";

function build(variant: string, changes: Partial<InstalledLibrary> = {}): InstalledLibrary {
  const path = `/lib/libggml-cpu-${variant}.so`;
  return {
    path,
    paths: [path],
    bytes: 1,
    foundBy: ["npm package"],
    package: { name: "@node-llama-cpp/linux-x64", version: "3.22.1" },
    classes: [{ name: "ggml-cpu", title: "ggml for CPUs", confidence: "certain", variant, evidence: [] }],
    fits: true,
    problems: [],
    ...changes,
  };
}

describe("formatLibraries", () => {
  it("has builds in one folder in one row, each in its own with all", () => {
    const inventory = {
      libraries: [build("haswell"), build("zen4", { paths: ["/lib/libggml-cpu-zen4.so", "/also.so"] })],
      locations: [],
    };
    expect(formatLibraries(inventory, false).split("\n")[1]).toBe(
      "  ggml for CPUs (2 builds)  -        @node-llama-cpp/linux-x64 3.22.1  /lib/",
    );
    const all = formatLibraries(inventory, true);
    expect(all).toContain("ggml for CPUs (haswell)");
    expect(all).toContain("also /also.so");
  });

  it("says where only the name tells what a library is, and why one does not fit", () => {
    const [classes] = [build("a").classes.map((each) => ({ ...each, confidence: "possible" as const }))];
    const inventory = {
      libraries: [build("a", { classes }), build("b", { fits: false, problems: ["it is for arm64"] })],
      locations: [],
    };
    expect(formatLibraries(inventory, false)).toContain("ggml for CPUs, by its name alone (a)");
    expect(formatLibraries(inventory, false)).toContain("not shown, for they do not fit this machine: 1 file;");
    expect(formatLibraries(inventory, true)).toContain("it is for arm64");
  });

  it("lists locations that cannot be read, without what would steer the terminal", () => {
    const locations = [
      { rule: "LLAMA_CPP_DIR", path: "/a\u001B[2J", outcome: "unreadable", libraries: 0, notes: ["EACCES: permission denied"] },
      { rule: "CUDA_HOME", outcome: "absent", libraries: 0, notes: ["the variable is not set"] },
    ] as const;
    const text = formatLibraries({ libraries: [], locations }, false);
    expect(text).toMatch(/no library for inference was found\nlocations\n {2}LLAMA_CPP_DIR {2}unreadable {2}\/a\?\[2J\n +EACCES/);
    expect(text).toMatch(/not shown: 1 location without a library/);
  });
});

it("formatAccelerators has what each needs, why it is there or not, and what uses it", () => {
  const cudnn: AcceleratorInfo = {
    name: "cudnn",
    displayName: "NVIDIA cuDNN",
    needsGpu: true,
    requiredLibraries: ["cudnn"],
    targets: ["onnx:cuda"],
    use: "onnx:cuda needs it",
    state: "absent",
    reason: "no GPU",
    libraries: [],
    devices: [],
  };
  expect(formatAccelerators([cudnn]).split("\n").slice(1)).toEqual([
    "  cudnn        NVIDIA cuDNN  absent  GPU, cudnn  no GPU",
    expect.stringMatching(/^ +onnx:cuda needs it$/),
  ]);
  const h200 = {
    name: "NVIDIA H200",
    source: "nvidia-smi",
    memory: { totalBytes: 150_109_880_320 },
    computeCapability: "9.0",
    dataTypes: ["float32", "float16"],
  } as const;
  const sharedMemory = { perBlockBytes: 49_152, perBlockOptInBytes: 232_448, perMultiprocessorBytes: 233_472 };
  const devices = [
    { ...h200, multiprocessors: 132, sharedMemory },
    { ...h200, limitsProblem: "no koffi" },
  ];
  expect(
    formatAccelerators([{ ...cudnn, devices }])
      .split("\n")
      .slice(3),
  ).toEqual([
    "devices",
    "  cudnn  NVIDIA H200  150.1 GB of memory; compute capability 9.0; 132 multiprocessors; 48 KiB of shared memory per block, 227 KiB on request; float32, float16",
    "  cudnn  NVIDIA H200  150.1 GB of memory; compute capability 9.0; float32, float16; shared memory unknown: no koffi",
  ]);
});
