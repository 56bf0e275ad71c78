/** Opens a GGUF file in llama.cpp on a device, whatever the model is used for. */
import { basename } from "node:path";
import type { Device, Library, LoadOptions } from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage, throwIfAborted } from "../../contract/errors.ts";
import { getGpu } from "./devices.ts";
import type { LlamaGpu, LlamaModel, LlamaModelOptions } from "./library.ts";
import type { LlamaBuilds, OpenLlama } from "./package.ts";

/** A model in the memory of llama.cpp. */
export interface OpenedModel {
  readonly model: LlamaModel;
  readonly library: Library;
  /** The device as llama.cpp itself reports it. */
  readonly placement: string;
  /** Errors that llama.cpp has logged since this was called last. */
  readonly takeErrors: () => string | undefined;
}

/** Settings of opening a model. */
export interface OpenSettings {
  readonly cpuNodes?: LoadOptions["cpuNodes"] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Tokens of the sequence whose cache must fit into the memory of a GPU together with the layers. Undefined: llama.cpp decides. */
  readonly contextLength?: number | undefined;
  readonly builds: LlamaBuilds;
}

/**
 * Opens the file at `path`, which our own parser has read before, since llama.cpp aborts the process on some damaged files. `create` makes the loaded model
 * of it; if it throws, everything is freed. Throws MODEL_UNSUPPORTED for an architecture that llama.cpp does not have, BACKEND_UNAVAILABLE if the device
 * computes nothing, and LOAD_FAILED with what llama.cpp says.
 */
export async function openModel<Loaded>(
  path: string,
  device: Device,
  { cpuNodes = "refuse", signal, contextLength, builds }: OpenSettings,
  create: (opened: OpenedModel) => Promise<Loaded>,
): Promise<Loaded> {
  const gpu = getGpu(device);
  if (gpu === undefined) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `llama.cpp does not compute on ${device.type}:${device.index}`, {
      remedy: "ask for llamacpp:cpu",
    });
  }
  const opened = await builds.get(gpu);
  const { llama, library, takeErrors } = opened;
  if (gpu !== false && !llama.supportsGpuOffloading)
    throw new InferyardError("BACKEND_UNAVAILABLE", `llama.cpp finds no ${gpu} device on this machine`);
  const model = await loadModel(opened, path, layersOn(gpu, cpuNodes, contextLength), signal);
  try {
    if (gpu !== false && model.gpuLayers === 0)
      throw new InferyardError("LOAD_FAILED", `llama.cpp put no layer of the model on ${gpu}`);
    return await create({ model, library, placement: await getPlacement(opened, model), takeErrors });
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

/** Layers on the GPU: all of them, unless the CPU may compute some; then as many as fit beside the cache of one sequence. */
function layersOn(
  gpu: LlamaGpu,
  cpuNodes: "refuse" | "allow",
  contextLength: number | undefined,
): LlamaModelOptions["gpuLayers"] {
  if (gpu === false) return 0;
  if (cpuNodes === "refuse") return "max";
  return contextLength === undefined ? "auto" : { fitContext: { contextSize: contextLength } };
}

async function loadModel(
  { llama, takeErrors }: OpenLlama,
  path: string,
  gpuLayers: LlamaModelOptions["gpuLayers"],
  signal: AbortSignal | undefined,
): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath: path, gpuLayers, ...omitUndefined({ loadSignal: signal }) });
  } catch (error) {
    throwIfAborted(signal);
    const said = [getMessage(error), takeErrors()].filter((part) => part !== undefined && part !== "").join(": ");
    const isUnknown = /unknown model architecture|unsupported/i.test(said);
    throw new InferyardError(
      isUnknown ? "MODEL_UNSUPPORTED" : "LOAD_FAILED",
      `llama.cpp cannot load ${basename(path)}: ${said}`,
      { cause: error },
    );
  }
}

async function getPlacement({ llama }: OpenLlama, model: LlamaModel): Promise<string> {
  const { repo, release } = llama.llamaCppRelease;
  const build = `${repo} ${release}`;
  if (llama.gpu === false) return `${build}: no GPU was given to it; it computes on the CPU`;
  const devices = await llama.getGpuDeviceNames();
  return `${build}: ${model.gpuLayers} layers offloaded to ${llama.gpu} (${devices.join(", ")})`;
}
