/** The backend `native`: Inferyard's own engine behind the backend contract. */
import { InferyardError, getMessage, throwIfAborted } from "../../contract/errors.ts";
import type {
  Availability,
  Capabilities,
  Device,
  DeviceAvailability,
  LanguageModel,
  LanguageModelFiles,
  Library,
  LoadOptions,
  ModelFiles,
  ProbeOptions,
} from "../../contract/backend.ts";
import type { EngineModel } from "../../engine/execute/engine-model.ts";
import type { GraphParts } from "../graphs/graph-model.ts";
import { graphModels, isDecodableFormat, isGraph } from "../graphs/graph-formats.ts";
import { estimateCache } from "../sequences/cache-estimate.ts";
import { loadStaticEmbeddings } from "./load-static-embeddings.ts";
import type { NativeState } from "./native-state.ts";
import type { NativeLoadOptions } from "./create-engine.ts";
import { selfTest } from "./self-test.ts";
import { StaticModel } from "./static-model.ts";
import type { ReplicaBackend, ReplicaModel } from "../../contract/replicas.ts";
import { version } from "../../version.ts";

const cpu: Device = { type: "cpu", index: 0 };
/** Name and version of the engine: those of this package, which contains it. */
const library: Library = { name: "inferyard", version };
/** Bytes of a packed weight in the engine's memory: its code, and its part of the scale of 32 weights. */
const packedWeightBytes = { int8: 1 + 4 / 32, int4: 0.5 + 4 / 32 };
const onCpu: Capabilities = {
  models: [
    { kind: "tensor", format: "safetensors", architectures: ["StaticModel"], runsIn: "caller" },
    ...graphModels.map((models) => ({
      ...models,
      runsIn: "interruptible-thread" as const,
      ...(models.format === "safetensors" ? { packing: packedWeightBytes } : {}),
    })),
  ],
  precisions: ["fp32", "fp16", "bf16", "int8", "int4"],
  // Met as upper bounds: static embeddings use one thread and have no graph, and all nodes run on the CPU. Not memoryPattern and memoryArena: the
  // memory of a run is always planned in advance, and is kept between runs.
  options: [
    "threads",
    "graphOptimization",
    "cpuNodes",
    "contextLength",
    "allowSmallerContext",
    "cachePrecision",
    "i2sLayout",
    "kernels",
    "machineCode",
    "tlTiles",
  ],
  cachePrecisions: ["fp32", "fp16"],
  // Attention, softmax and activations are computed in place.
  runMemory: { liveTensors: 1, isBounded: true },
};
const elsewhere: Capabilities = { models: [], precisions: [], options: [] };

/**
 * Creates the backend. On the CPU it runs static token embeddings (in model2vec's layout, and in our 4-bit layout), ONNX graphs,
 * and transformers from safetensors and GGUF.
 */
export function native(): ReplicaBackend {
  const state: NativeState = { library };
  return {
    name: "native",
    contractVersion: 1,
    entry: { module: new URL("./index.ts", import.meta.url).href, export: "native" },
    probe: (options) => probe(options, state),
    capabilities: (device) => (isCpu(device) ? onCpu : elsewhere),
    load: (model, device, options) => load(model, device, options, state),
    loadLanguage: (model, device, options) => loadLanguage(model, device, options, state),
    alternatives: async (model, settings) => {
      if (model.format !== "gguf") return [];
      const { i2sAlternatives } = await import("./i2s-alternatives.ts"); // imported on demand: it reads GGUF files
      return await i2sAlternatives(model, settings);
    },
    estimateCache: ({ config }, _device, { cachePrecision = "fp32" }) => estimateCache(config, cachePrecision, 0),
    loadReplica: (model, device, options, replica) => load(model, device, { ...options, replica }, state),
  };
}

async function probe(options: ProbeOptions, state: NativeState): Promise<Availability> {
  throwIfAborted(options.signal);
  const wanted = options.device === undefined || isCpu(options.device);
  return { present: true, library, devices: wanted ? [await probeCpu(options, state)] : [] };
}

async function probeCpu({ run, full = false }: ProbeOptions, state: NativeState): Promise<DeviceAvailability> {
  if (!run) return { device: cpu, state: "present", reason: "part of inferyard" };
  const start = performance.now();
  try {
    const tested = await selfTest(library);
    const [{ checkGeneratedCode }, { openOnce }] = await Promise.all([
      import("./check-generated-code.ts"), // imported on demand, as in `load`
      import("./native-state.ts"),
    ]);
    const { reason: kernels, ...warning } = await checkGeneratedCode(state, full, openOnce(state));
    const reason = `self-test: static embeddings in ${tested.join(", ")}; ${kernels}`;
    return { device: cpu, state: "available", reason, ...warning, milliseconds: performance.now() - start };
  } catch (error) {
    const reason = `self-test failed: ${getMessage(error)}`;
    const remedy = "report this with the output of `inferyard doctor --json`";
    return { device: cpu, state: "absent", reason, remedy, milliseconds: performance.now() - start };
  }
}

async function load(model: ModelFiles, device: Device, options: NativeLoadOptions, state: NativeState): Promise<ReplicaModel> {
  requireCpu(device);
  if (isGraph(model)) {
    const [{ GraphModel }, { openModelPlans }] = await Promise.all([
      import("../graphs/graph-model.ts"),
      import("./kept/restore-model.ts"),
    ]);
    const plans = await openModelPlans?.(model, options, state);
    const restored = await plans?.restore();
    if (restored !== undefined) return new GraphModel(restored);
    const create = async (parts: GraphParts<EngineModel>): Promise<ReplicaModel> => new GraphModel(plans?.keep(parts) ?? parts);
    return await withParts(model, options, state, create, plans !== undefined);
  }
  if (model.format !== "safetensors") {
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `native does not build ${model.architecture ?? "models without an architecture"}, which ${model.path} holds`,
    );
  }
  const embeddings = await loadStaticEmbeddings(model, options.signal);
  return new StaticModel(embeddings, library, options.maxRunMemory);
}

/**
 * Loads a language model. Decoders keep their caches in the engine. ONNX models with an encoder pass them through the inputs and outputs of their graphs,
 * which are compiled for each number of tokens.
 */
async function loadLanguage(
  model: LanguageModelFiles,
  device: Device,
  options: LoadOptions,
  state: NativeState,
): Promise<LanguageModel> {
  requireCpu(device);
  const { loadLanguageModel } = await import("../sequences/load-language-model.ts");
  const { cachePrecision = "fp32" } = options;
  if (model.encoder !== undefined && cachePrecision !== "fp32")
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `native keeps caches of ONNX models with an encoder in fp32, not in ${cachePrecision}`,
    );
  if (model.encoder !== undefined) return await loadLanguageModel(model, options, (part) => load(part, device, options, state));
  if (!isDecodableFormat(model))
    throw new InferyardError("MODEL_UNSUPPORTED", `native does not decode tokens with ${model.architecture ?? model.format}`);
  const { GraphLanguageModel } = await import("../graphs/graph-language-model.ts");
  return await withParts(model, { ...options, isUnprepared: true }, state, (parts) =>
    GraphLanguageModel.create(parts, model, options),
  );
}

/** Returns what `create` makes of an engine with the model's graph. The engine is imported on demand: it is large, and static embeddings do not need it. */
async function withParts<Model>(
  model: ModelFiles,
  options: NativeLoadOptions,
  state: NativeState,
  create: (parts: GraphParts<EngineModel>) => Promise<Model>,
  keepsPlans = false,
): Promise<Model> {
  const [{ createParts }, { describeBlocks, withOpenGraph }] = await Promise.all([
    import("./create-engine.ts"),
    import("../graphs/open-graph.ts"),
  ]);
  return await withOpenGraph(model, options, async (graph) => {
    const blocks = model.format === "onnx" ? describeBlocks(graph.source) : undefined;
    const quantization = blocks === undefined ? undefined : `matrices of MatMulNBits that stay in blocks: ${blocks}`;
    return await create({ ...(await createParts(graph, options, state, { keepsPlans })), quantization });
  });
}

function requireCpu(device: Device): void {
  if (isCpu(device)) return;
  throw new InferyardError("BACKEND_UNAVAILABLE", `native computes on cpu only, not on ${device.type}:${device.index}`, {
    remedy: "ask for native:cpu",
  });
}

function isCpu(device: Device): boolean {
  return device.type === cpu.type && device.index === cpu.index;
}
