/** The specification of selection, as tables: who is a candidate, why one is refused, in what order the rest are tried. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Capabilities, DeviceAvailability, SupportedModels } from "../../contract/backend.ts";
import type { Manifest, Requirements, Variant } from "../../models/manifest.ts";
import { type CheckedCandidate, select } from "./selection.ts";
import type { LoadRequest } from "./load-request.ts";
import type { BackendFacts, SelectionFacts } from "./selection-facts.ts";
import { formatPattern, formatTarget } from "../targets/target.ts";
import { refuseUnknownVariant } from "./variant-selection.ts";
import { type ConstraintOptions, type GpuMode, mergeConstraints } from "../targets/constraints.ts";

const gigabyte = 1e9;

const fp32: Variant = {
  name: "fp32",
  aliases: [],
  format: "onnx",
  path: "/m/model.onnx",
  bytes: 90e6,
  config: {},
  precision: "fp32",
};
const int8: Variant = {
  ...fp32,
  name: "int8",
  aliases: ["quantized", "q8"],
  path: "/m/model_quantized.onnx",
  bytes: 23e6,
  precision: "int8",
};
const rows: Variant = {
  ...fp32,
  name: "rows",
  format: "safetensors",
  path: "/m/model.safetensors",
  architecture: "StaticModel",
  precision: "fp16",
};
const weights: Variant = { ...rows, name: "weights", architecture: "BertModel" };

function manifest(over: Partial<Manifest> = {}): Manifest {
  return {
    reference: "./m",
    name: "m",
    directory: "/m",
    source: "huggingface",
    tasks: ["feature-extraction"],
    variants: [fp32, int8],
    selection: { backends: [], fallbacks: [] },
    requirements: {},
    ...over,
  };
}

const here = (type: string, index = 0): DeviceAvailability => ({ device: { type, index }, state: "present", reason: "found" });
const noDriver: DeviceAvailability = {
  device: { type: "cuda", index: 0 },
  state: "absent",
  reason: "no NVIDIA driver on this machine",
  remedy: "install the driver",
};
const onnxTensors: SupportedModels = { kind: "tensor", format: "onnx", architectures: "any" };
const onnxWriters: SupportedModels = { ...onnxTensors, kind: "language" };
const staticTensors: SupportedModels = {
  kind: "tensor",
  format: "safetensors",
  architectures: ["StaticModel"],
  runsIn: "caller",
};
const anyOnnx: Capabilities = {
  models: [onnxTensors],
  precisions: ["fp32", "fp16", "int8"],
  options: ["threads", "graphOptimization"],
};
const staticRows: Capabilities = {
  models: [staticTensors],
  precisions: ["fp32", "fp16", "int8", "int4"],
  options: ["threads"],
};

function backend(name: string, devices: readonly DeviceAvailability[], capabilities: Capabilities = anyOnnx): BackendFacts {
  return {
    name,
    availability: { present: true, library: { name: `lib${name}`, version: "1.2.3" }, devices },
    capabilities: () => capabilities,
  };
}

function missing(name: string): BackendFacts {
  return {
    name,
    availability: { present: false, reason: `${name} is not installed`, remedy: `npm install ${name}` },
    capabilities: () => anyOnnx,
  };
}

const onnx = backend("onnx", [noDriver, here("cpu")]);
const onnxWithGpus = backend("onnx", [here("cuda"), here("cuda", 1), here("cpu")]);
const native = backend("native", [here("cpu")], staticRows);
const wasm = backend("wasm", [here("cpu")]);

interface Scene {
  readonly backends?: readonly BackendFacts[];
  readonly facts?: Partial<SelectionFacts>;
  readonly manifest?: Partial<Manifest>;
  readonly constraints?: ConstraintOptions;
  readonly request?: Partial<LoadRequest>;
}

function selectIn(scene: Scene): CheckedCandidate[] {
  const facts: SelectionFacts = {
    backends: scene.backends ?? [onnx, native, wasm],
    availableMemory: 8 * gigabyte,
    deviceFacts: [],
    openCircuits: new Map(),
    ...scene.facts,
  };
  return select(facts, manifest(scene.manifest), mergeConstraints(scene.constraints ?? {}), { settings: {}, ...scene.request });
}

const targetOf = (selection: CheckedCandidate): string =>
  selection.verdict === "eligible" ? formatTarget(selection.target) : selection.target;
const open = (scene: Scene): string[] =>
  selectIn(scene).flatMap((selection) => (selection.verdict === "eligible" ? [targetOf(selection)] : []));
const refusalOf = (scene: Scene, target: string): string | undefined => {
  const found = selectIn(scene).find((selection) => targetOf(selection) === target);
  return found?.verdict === "refused" ? `${found.stage}: ${found.reason}` : found?.verdict;
};

describe("the context of a language model", () => {
  const reader: Capabilities = { ...anyOnnx, models: [onnxTensors, onnxWriters], cachePrecisions: ["fp32"] };
  const options = ["contextLength", "allowSmallerContext", "cachePrecision", "cpuNodes"] as const;
  const llama: BackendFacts = {
    ...backend("llama", [here("cpu"), here("cuda")], { ...reader, options }),
    estimateCache: () => ({ contextLength: 100_000, bytesPerToken: 100_000, computeBytes: 10e6 }),
  };
  const cuda = { device: { type: "cuda", index: 0 }, memoryBytes: 4 * gigabyte };
  const scene = (settings: LoadRequest["settings"], facts: Partial<SelectionFacts> = {}): Scene => ({
    backends: [llama],
    facts,
    request: { kind: "language", settings },
  });
  const limited = (bytes: Record<string, number>): Partial<SelectionFacts> => ({
    budget: { limits: { bytes, models: Number.POSITIVE_INFINITY }, host: { blocking: "worker" } },
  });

  it("is refused where it does not fit into the free memory, maxMemory or the memory of the device", () => {
    expect(refusalOf(scene({}), "llama:cpu")).toMatch(
      /^requirement: a context of 100,000 tokens needs 10,100 MB .* the free memory is 8,000 MB$/,
    );
    expect(refusalOf(scene({}, limited({ memory: 3e9 })), "llama:cpu")).toMatch(/and maxMemory is 3,000 MB$/);
    expect(refusalOf(scene({}, { deviceFacts: [cuda] }), "llama:cuda")).toMatch(/and the memory of cuda:0 is 4,000 MB$/);
    expect(refusalOf(scene({}, limited({ "cuda:0": 2e9 })), "llama:cuda")).toMatch(/and the memory of cuda:0 is 2,000 MB$/);
  });

  it("fits on a device whose memory is not known, and where layers may stay on the CPU the machine's memory counts", () => {
    expect(refusalOf(scene({}), "llama:cuda")).toBe("eligible");
    const wide = { availableMemory: 20e9, deviceFacts: [cuda] };
    expect(refusalOf(scene({ cpuNodes: "allow" }, wide), "llama:cuda")).toBe("eligible");
  });

  it("is shortened where that is allowed, and the reason says so", () => {
    const [first] = selectIn(scene({ allowSmallerContext: true }));
    expect(first).toMatchObject({
      verdict: "eligible",
      shortened: { contextLength: 70_912 },
      reason: expect.stringMatching(/^libllama 1\.2\.3, fp32; the context is 70,912 tokens instead of 100,000: /),
    });
  });

  it("means nothing where the model is loaded for its tensors, or the backend knows nothing of its cache", () => {
    expect(refusalOf({ ...scene({}), request: { settings: {} } }, "llama:cpu")).toBe("eligible");
    const { estimateCache: _none, ...ignorant } = llama;
    expect(refusalOf({ ...scene({}), backends: [ignorant] }, "llama:cpu")).toBe("eligible");
  });

  it("has a precision that the backend offers", () => {
    const settings = { contextLength: 10, cachePrecision: "fp16" } as const;
    expect(refusalOf(scene(settings), "llama:cpu")).toBe("capability: llama keeps caches in fp32, not in fp16");
    expect(refusalOf(scene({ ...settings, cachePrecision: "fp32" }), "llama:cpu")).toBe("eligible");
  });
});

describe("gpu", () => {
  const backends = [onnxWithGpus, native, wasm];
  const model = {};

  it.each<[GpuMode, string[]]>([
    ["auto", ["onnx:cuda", "onnx:cuda:1", "onnx:cpu", "wasm:cpu"]],
    ["off", ["onnx:cpu", "wasm:cpu"]],
    ["cuda", ["onnx:cuda", "onnx:cuda:1"]],
    ["coreml", []],
  ])("%s", (gpu, targets) => {
    expect(open({ backends, manifest: model, constraints: { gpu } })).toEqual(targets);
  });

  it("is met by every level: none loosens what another demands", () => {
    const { required } = mergeConstraints({ gpu: "off" }, { gpu: "auto" }, { gpu: "cuda", target: "onnx" });
    expect(required.map((alternatives) => alternatives.map(formatPattern))).toEqual([["*:cpu"], ["onnx"], ["*:cuda"]]);
  });

  it("names what lacks the device, and what would provide it", () => {
    const refused = selectIn({ backends, constraints: { gpu: "rocm" } }).filter((each) => targetOf(each).endsWith(":rocm"));
    expect(refused).toMatchObject([
      { target: "onnx:rocm", stage: "device", remedy: expect.stringContaining("ROCm provider") },
      { target: "native:rocm", stage: "device", reason: "native has no such device here; it knows native:cpu" },
      { target: "wasm:rocm", stage: "device" },
    ]);
  });

  it("is one of its words", () => {
    expect(() => mergeConstraints({ gpu: "nvidia" as GpuMode })).toThrow(/gpu is "nvidia"/);
    const remedyOf = (gpu: unknown): string | undefined => {
      try {
        mergeConstraints({ gpu: gpu as GpuMode });
      } catch (error) {
        return (error as { readonly remedy?: string }).remedy;
      }
      return undefined;
    };
    expect(remedyOf("cudda")).toBe('did you mean "cuda"?');
    for (const gpu of ["nothing-like-it", 7]) expect(remedyOf(gpu)).toMatch(/^choose one of auto, off, /);
    expect(remedyOf("DML")).toBeUndefined();
  });
});

describe("a model that is loaded as a language model", () => {
  const decoding = backend("onnx", [here("cpu")], { ...anyOnnx, models: [onnxTensors, onnxWriters] });
  const llamas: SupportedModels = { kind: "language", format: "safetensors", architectures: ["LlamaForCausalLM"] };
  const causal = backend("native", [here("cpu")], { ...staticRows, models: [staticTensors, llamas] });
  const scene: Scene = { backends: [decoding, causal, wasm], request: { kind: "language" } };

  it("goes to the backends that decode its format, and the others say so", () => {
    expect(open(scene)).toEqual(["onnx:cpu"]);
    expect(refusalOf(scene, "wasm:cpu")).toBe("capability: wasm does not run onnx as a language model");
    expect(refusalOf(scene, "native:cpu")).toBe("capability: native does not run onnx as a language model");
  });

  it("needs an architecture that the backend decodes", () => {
    const llama: Variant = { ...weights, architecture: "LlamaForCausalLM" };
    expect(open({ ...scene, manifest: { variants: [llama] } })).toEqual(["native:cpu"]);
    expect(refusalOf({ ...scene, manifest: { variants: [weights] } }, "native:cpu")).toBe(
      "capability: native runs safetensors as a language model of LlamaForCausalLM, not of BertModel",
    );
  });

  it("is not what the same files are on tensors", () => {
    expect(open({ ...scene, request: { kind: "tensor" } })).toEqual(["onnx:cpu", "wasm:cpu"]);
    expect(open({ ...scene, request: {} })).toEqual(["onnx:cpu", "wasm:cpu"]);
  });
});

describe("which targets are tried, and in what order", () => {
  const cases: readonly [string, Scene, string[]][] = [
    ["the order of backends: onnx, native, wasm", {}, ["onnx:cpu", "wasm:cpu"]],
    ["within a backend, its own order of devices", { backends: [onnxWithGpus] }, ["onnx:cuda", "onnx:cuda:1", "onnx:cpu"]],
    ["an order the user chose", { constraints: { priority: ["wasm", "onnx"] } }, ["wasm:cpu", "onnx:cpu"]],
    ["backends left out of the order come last", { constraints: { priority: ["wasm"] } }, ["wasm:cpu", "onnx:cpu"]],
    ["a preferred target first, the others as fallbacks", { constraints: { prefer: "wasm" } }, ["wasm:cpu", "onnx:cpu"]],
    [
      "a preferred target that is absent changes nothing else",
      { constraints: { prefer: "onnx:cuda" } },
      ["onnx:cpu", "wasm:cpu"],
    ],
    [
      "several preferred targets in their order",
      { backends: [onnxWithGpus, wasm], constraints: { prefer: ["onnx:cpu", "onnx:cuda:1"] } },
      ["onnx:cpu", "onnx:cuda:1", "onnx:cuda", "wasm:cpu"],
    ],
    ["a required target and nothing else", { constraints: { target: "wasm:cpu" } }, ["wasm:cpu"]],
    ["a required target that is absent: nothing (fails closed)", { constraints: { target: "onnx:cuda" } }, []],
    ["several required targets are alternatives", { constraints: { target: "onnx:cuda,onnx:cpu" } }, ["onnx:cpu"]],
    ["auto means any device", { constraints: { target: "onnx:auto" } }, ["onnx:cpu"]],
    ["an excluded backend never", { constraints: { exclude: "onnx" } }, ["wasm:cpu"]],
    [
      "an excluded device never, its siblings still",
      { backends: [onnxWithGpus], constraints: { exclude: "onnx:cuda:0" } },
      ["onnx:cuda:1", "onnx:cpu"],
    ],
    ["exclusion wins over preference", { constraints: { prefer: "onnx", exclude: "onnx" } }, ["wasm:cpu"]],
    ["the manifest's backends, and no others", { manifest: { selection: { backends: ["wasm"], fallbacks: [] } } }, ["wasm:cpu"]],
    [
      "policy manifest: preferred, then its fallbacks, and nothing else",
      {
        backends: [onnxWithGpus, native, wasm],
        constraints: { policy: "manifest" },
        manifest: { selection: { backends: [], preferred: "wasm", fallbacks: ["onnx:cpu"] } },
      },
      ["wasm:cpu", "onnx:cpu"],
    ],
    [
      "the manifest allows a target of a backend",
      { manifest: { selection: { backends: ["wasm:cpu", "onnx:cuda"], fallbacks: [] } } },
      ["wasm:cpu"],
    ],
    ["policy manifest without a preferred target: nothing", { constraints: { policy: "manifest" } }, []],
    ["static embeddings run on the backend that knows them", { manifest: { variants: [rows] } }, ["native:cpu"]],
  ];
  it.each(cases)("%s", (_name, scene, expected) => expect(open(scene)).toEqual(expected));
});

describe("why a target is refused", () => {
  const cases: readonly [string, Scene, string, string][] = [
    ["excluded", { constraints: { exclude: "onnx" } }, "onnx:cpu", "constraints: you excluded onnx"],
    ["another one is required", { constraints: { target: "wasm" } }, "onnx:cpu", "constraints: you required wasm"],
    [
      "not in the manifest",
      { manifest: { selection: { backends: ["wasm"], fallbacks: [] } } },
      "onnx:cpu",
      "manifest: the model's manifest allows only wasm",
    ],
    [
      "not named under the policy manifest",
      { constraints: { policy: "manifest" }, manifest: { selection: { backends: [], preferred: "wasm", fallbacks: [] } } },
      "onnx:cpu",
      'manifest: the policy is "manifest", which names only wasm',
    ],
    [
      "the manifest names nothing",
      { constraints: { policy: "manifest" } },
      "onnx:cpu",
      'manifest: the policy is "manifest", and the manifest names no preferred target',
    ],
    [
      "not registered, and required",
      { constraints: { target: "xla:tpu" } },
      "xla:tpu",
      'package: no backend named "xla" is registered in this runtime',
    ],
    [
      "not registered, and in the chosen order",
      { constraints: { priority: ["xla", "onnx"] } },
      "xla:cpu",
      'package: no backend named "xla" is registered in this runtime',
    ],
    ["package missing", { backends: [missing("onnx"), wasm] }, "onnx:cpu", "package: onnx is not installed"],
    [
      "package missing, for a device that was named",
      { backends: [missing("onnx")], constraints: { prefer: "onnx:cuda" } },
      "onnx:cuda",
      "package: onnx is not installed",
    ],
    ["device absent", {}, "onnx:cuda", "device: no NVIDIA driver on this machine"],
    [
      "device absent, and what the model needs of it",
      { manifest: { requirements: { cudaVersion: "12.8", deviceMemoryBytes: gigabyte } } },
      "onnx:cuda",
      "device: no NVIDIA driver on this machine; needs 1000 MB on the device, whose memory is not known; needs CUDA 12.8, and the driver's CUDA version is not known",
    ],
    [
      "package missing, and what the model needs of the device",
      {
        backends: [missing("onnx")],
        constraints: { prefer: "onnx:cuda" },
        manifest: { requirements: { cudaVersion: "12.8" } },
      },
      "onnx:cuda",
      "package: onnx is not installed; needs CUDA 12.8, and the driver's CUDA version is not known",
    ],
    [
      "device unknown to the backend",
      { constraints: { prefer: "wasm:cuda" } },
      "wasm:cuda",
      "device: wasm has no such device here; it knows wasm:cpu",
    ],
    [
      "the tiny computation failed there",
      { backends: [backend("onnx", [{ ...noDriver, milliseconds: 40, reason: "no such library" }])] },
      "onnx:cuda",
      "probe: no such library",
    ],
    ["format unknown", {}, "native:cpu", "capability: native does not run onnx"],
    [
      "architecture unknown",
      { manifest: { variants: [weights] } },
      "native:cpu",
      "capability: native runs safetensors of StaticModel, not of BertModel",
    ],
    [
      "architecture not stated",
      { manifest: { variants: [{ ...rows, architecture: undefined } as unknown as Variant] } },
      "native:cpu",
      "capability: native runs safetensors of StaticModel, not of an unnamed architecture",
    ],
    [
      "precision unknown",
      { manifest: { variants: [{ ...fp32, precision: "int4" }] } },
      "onnx:cpu",
      "capability: onnx does not run int4 weights on cpu",
    ],
    [
      "a setting it does not have",
      { manifest: { variants: [rows] }, request: { settings: { graphOptimization: "all" } } },
      "native:cpu",
      'capability: native has no setting "graphOptimization", and you set it',
    ],
    [
      "weights larger than the memory",
      { facts: { availableMemory: 50e6 } },
      "onnx:cpu",
      "requirement: needs 90 MB of memory, and 50 MB is available",
    ],
    [
      "the manifest wants more memory",
      { manifest: { requirements: { memoryBytes: 9 * gigabyte } } },
      "onnx:cpu",
      "requirement: needs 9000 MB of memory, and 8000 MB is available",
    ],
    [
      "left alone after a failure",
      { facts: { openCircuits: new Map([["onnx:cpu", { reason: "it failed while running", remainingMs: 1000 }]]) } },
      "onnx:cpu",
      "circuit: it failed while running",
    ],
  ];
  it.each(cases)("%s", (_name, scene, target, expected) => expect(refusalOf(scene, target)).toBe(expected));

  it("a device that is absent, with nothing that would mend it", () => {
    const { remedy: _remedy, ...gone } = noDriver;
    const scene: Scene = { backends: [backend("onnx", [gone, here("cpu")])] };
    expect(refusalOf(scene, "onnx:cuda")).toBe("device: no NVIDIA driver on this machine");
    expect(selectIn(scene).find((each) => targetOf(each) === "onnx:cuda")).not.toHaveProperty("remedy");
  });

  it("a setting that was set for the model and has no effect on it", () => {
    const scene: Scene = { request: { settings: { contextLength: 5 }, own: ["contextLength"] } };
    for (const target of ["onnx:cpu", "wasm:cpu"])
      expect(refusalOf(scene, target)).toMatch(/^capability: you set contextLength, which changes nothing/);
  });

  it("gives the remedy of the package and of the device", () => {
    const [first] = selectIn({ backends: [missing("onnx")] });
    expect(first).toMatchObject({ verdict: "refused", remedy: "npm install onnx" });
    expect(selectIn({}).find((selection) => targetOf(selection) === "onnx:cuda")).toMatchObject({ remedy: "install the driver" });
  });
});

describe("requirements of a device", () => {
  const gpu = { device: { type: "cuda", index: 0 }, memoryBytes: 16 * gigabyte, cudaVersion: "12.10" };
  const cases: readonly [string, Requirements, Partial<SelectionFacts>, string][] = [
    ["CUDA versions are numbers: 12.10 is newer than 12.8", { cudaVersion: "12.8" }, { deviceFacts: [gpu] }, "eligible"],
    ["CUDA too old", { cudaVersion: "13.0" }, { deviceFacts: [gpu] }, "requirement: needs CUDA 13.0, and the driver has 12.10"],
    ["CUDA unknown", { cudaVersion: "12.0" }, {}, "requirement: needs CUDA 12.0, and the driver's CUDA version is not known"],
    ["enough device memory", { deviceMemoryBytes: 16 * gigabyte }, { deviceFacts: [gpu] }, "eligible"],
    [
      "too little device memory",
      { deviceMemoryBytes: 17 * gigabyte },
      { deviceFacts: [gpu] },
      "requirement: needs 17000 MB on the device, which has 16000 MB",
    ],
    [
      "more than the budget of the device",
      { deviceMemoryBytes: 9 * gigabyte },
      { deviceFacts: [gpu], budget: { limits: { bytes: { "cuda:0": 8 * gigabyte }, models: 9 }, host: { blocking: "worker" } } },
      "requirement: needs about 9000 MB, and the budget of cuda:0 is 8000 MB",
    ],
    ["device memory unknown", { deviceMemoryBytes: 1 }, {}, "requirement: needs 1 MB on the device, whose memory is not known"],
    [
      "several at once, all of which are told",
      { deviceMemoryBytes: 17 * gigabyte, cudaVersion: "13.0", precision: "bf16" },
      { deviceFacts: [gpu] },
      "requirement: needs 17000 MB on the device, which has 16000 MB; needs CUDA 13.0, and the driver has 12.10; needs bf16, which onnx does not compute on cuda",
    ],
    [
      "precision it does not compute",
      { precision: "bf16" },
      { deviceFacts: [gpu] },
      "requirement: needs bf16, which onnx does not compute on cuda",
    ],
  ];
  it.each(cases)("%s", (_name, requirements, facts, expected) => {
    expect(refusalOf({ backends: [onnxWithGpus], manifest: { requirements }, facts }, "onnx:cuda")).toBe(expected);
  });

  it("device memory and CUDA do not bind the CPU; TensorRT is held to the CUDA of its device", () => {
    const requirements = { deviceMemoryBytes: 99 * gigabyte, cudaVersion: "99.0" };
    expect(refusalOf({ manifest: { requirements } }, "onnx:cpu")).toBe("eligible");
    const tensorrt = backend("onnx", [here("tensorrt")]);
    const scene = { backends: [tensorrt], manifest: { requirements: { cudaVersion: "13.0" } }, facts: { deviceFacts: [gpu] } };
    expect(refusalOf(scene, "onnx:tensorrt")).toBe("requirement: needs CUDA 13.0, and the driver has 12.10");
  });
});

describe("which variant", () => {
  const variantIn = (scene: Scene): string | undefined => {
    const first = selectIn(scene).find((selection) => selection.verdict === "eligible");
    return first?.verdict === "eligible" ? first.variant.name : undefined;
  };
  it("the first one the backend can run", () => {
    expect(variantIn({})).toBe("fp32");
    expect(variantIn({ manifest: { variants: [weights, rows, fp32] }, constraints: { target: "native" } })).toBe("rows");
    expect(variantIn({ manifest: { variants: [weights, rows, fp32] } })).toBe("fp32");
  });
  it.each(["int8", "quantized", "q8"])("the one named %s", (variant) => expect(variantIn({ request: { variant } })).toBe("int8"));
});

describe("constraints of several levels", () => {
  const merged = (...levels: ConstraintOptions[]): CheckedCandidate[] =>
    select(
      { backends: [onnxWithGpus, native, wasm], availableMemory: gigabyte, deviceFacts: [], openCircuits: new Map() },
      manifest(),
      mergeConstraints(...levels),
      { settings: {} },
    );
  const opened = (...levels: ConstraintOptions[]): string[] =>
    merged(...levels).flatMap((entry) => (entry.verdict === "eligible" ? [targetOf(entry)] : []));

  it("the later level's preference comes first", () => {
    expect(opened({ prefer: "wasm" }, { prefer: "onnx:cpu" }).slice(0, 2)).toEqual(["onnx:cpu", "wasm:cpu"]);
  });
  it("requirements of all levels hold: a request cannot loosen the operator's", () => {
    expect(opened({ target: "onnx" }, { target: "onnx:cpu" })).toEqual(["onnx:cpu"]);
    expect(opened({ target: "onnx:cpu" }, { target: "onnx:cuda" })).toEqual([]);
  });
  it("exclusions add up", () => expect(opened({ exclude: "onnx:cuda" }, { exclude: "wasm" })).toEqual(["onnx:cpu"]));
  it("the last policy wins", () => expect(opened({ policy: "manifest" }, { policy: "priority" })).not.toEqual([]));
});

describe("a variant that the files lack", () => {
  const packs: Capabilities = {
    ...staticRows,
    models: [staticTensors, { ...staticTensors, architectures: ["BertModel"], packing: { int8: 1.125, int4: 0.625 } }],
  };
  const packer = backend("native", [here("cpu")], packs);
  const whole: Variant = { ...weights, name: "fp32", precision: "fp32", bytes: 400e6 };
  const scene = (variant: string, ...variants: Variant[]): Scene => ({
    backends: [onnx, packer],
    manifest: { variants },
    request: { variant },
  });

  it("is packed by a backend that does so, and takes the memory of its packed weights", () => {
    const found = selectIn(scene("int8", whole)).find(({ verdict }) => verdict === "eligible");
    expect(found).toMatchObject({
      target: { backend: "native" },
      variant: { name: "int8", path: whole.path, precision: "fp32", packing: { to: "int8", from: "fp32", bytes: 112_500_000 } },
      reason: "libnative 1.2.3, int8 packed from fp32 while loading, about 113 MB",
    });
    const half = selectIn(scene("int4", { ...whole, precision: "fp16" })).find(({ verdict }) => verdict === "eligible");
    expect(half).toMatchObject({ variant: { packing: { to: "int4", bytes: 125_000_000 } } });
    const facts = { availableMemory: 200e6 };
    expect(open({ ...scene("int8", whole), facts })).toEqual(["native:cpu"]);
    expect(open({ ...scene("fp32", whole), facts })).toEqual([]);
  });

  it("is refused by name everywhere else", () => {
    expect(refusalOf(scene("int8", fp32, whole), "onnx:cpu")).toBe(
      "capability: the files have no int8 weights (they have fp32, fp32), and onnx packs no weights",
    );
    expect(refusalOf(scene("int8", fp32), "native:cpu")).toBe(
      "capability: the files have no int8 weights (they have fp32), and native packs only safetensors weights of architectures that it builds",
    );
    expect(refusalOf(scene("int3", whole), "native:cpu")).toBe('capability: the model has no variant "int3"');
  });

  it("is not packed where the files have weights of that precision, under whatever name", () => {
    const unknown: Variant = { ...whole, name: "other", precision: undefined } as unknown as Variant;
    expect(open(scene("int8", unknown, whole))).toEqual(["native:cpu"]);
    expect(open(scene("int8", { ...int8 }, whole))).toEqual(["onnx:cpu"]);
    expect(open(scene("int4", { ...whole, name: "q4", precision: "int4" }, whole))).toEqual([]);
  });

  it("is not packed from GGUF files, which have types of their own", () => {
    const gguf: Variant = { ...whole, format: "gguf" };
    expect(open(scene("int8", gguf))).toEqual([]);
    expect(() => refuseUnknownVariant([gguf], "int8", "m.gguf")).toThrow('m.gguf has no variant "int8"');
  });

  it.each([
    [[whole], "int3", "choose one of fp32"],
    [[{ ...whole, format: "gguf" }], "int3", "choose one of fp32"],
    [
      [{ ...whole, format: "gguf" }],
      "int4",
      "write a file of that precision with `inferyard quantize m --to q4_k`, and load it; or choose fp32",
    ],
  ] as const)("has a remedy where nobody packs it: %#", (variants, wanted, remedy) => {
    expect(() => refuseUnknownVariant(variants, wanted, "m")).toThrow(expect.objectContaining({ remedy }));
  });

  it("is no concern where none is asked for, or another backend packs it", () => {
    expect(() => refuseUnknownVariant([whole], undefined, "m")).not.toThrow();
    expect(() => refuseUnknownVariant([whole], "int8", "m")).not.toThrow();
  });
});

describe("whatever the constraints", () => {
  const word = fc.constantFrom("onnx", "onnx:cpu", "onnx:cuda", "onnx:cuda:1", "native", "wasm", "wasm:cpu", "xla", "xla:tpu:3");
  const anyConstraints = fc.record({
    prefer: fc.array(word),
    target: fc.array(word, { maxLength: 2 }),
    exclude: fc.array(word, { maxLength: 2 }),
    priority: fc.uniqueArray(fc.constantFrom("onnx", "native", "wasm", "xla")),
  });

  it("each target is one candidate, and every refusal has a reason", () => {
    fc.assert(
      fc.property(anyConstraints, (constraints) => {
        const selections = selectIn({ backends: [onnxWithGpus, native, wasm], constraints });
        const targets = selections.map(targetOf);
        expect(new Set(targets).size).toBe(targets.length);
        for (const selection of selections) expect(selection.reason).not.toBe("");
      }),
    );
  });

  it("nothing that is excluded, or not among what is required, is ever open", () => {
    fc.assert(
      fc.property(anyConstraints, (constraints) => {
        const { excluded, required } = mergeConstraints(constraints);
        for (const target of open({ backends: [onnxWithGpus, native, wasm], constraints })) {
          const [backendName, type, index] = target.split(":");
          const means = (pattern: { backend: string; deviceType?: string; index?: number }): boolean =>
            pattern.backend === backendName &&
            (pattern.deviceType ?? type) === type &&
            (pattern.index ?? Number(index ?? 0)) === Number(index ?? 0);
          expect(excluded.some(means)).toBe(false);
          for (const alternatives of required) expect(alternatives.some(means)).toBe(true);
        }
      }),
    );
  });
});
