/** Loads a transformer from safetensors for our own engine. */
import { throwIfAborted } from "../../backend.ts";
import type { Library, LoadedModel, LoadOptions, ModelFiles } from "../../backend.ts";
import { buildTransformer } from "../../engine/index.ts";
import { nextTurn } from "../../next-turn.ts";
import { readSafetensorsHeader, readTensor } from "../../safetensors.ts";
import { engineFor } from "./engine-for.ts";
import { GraphModel } from "./graph-model.ts";

/** Refuses by the header and the configuration, before any tensor is read. */
export async function loadTransformer(file: ModelFiles, options: LoadOptions, library: Library): Promise<LoadedModel> {
  const { signal } = options;
  const header = await readSafetensorsHeader(file.path, signal);
  const { source, inputs, outputs, pending } = buildTransformer(file.architecture ?? "", file.config, header.tensors);
  for (const { name, fill } of pending) {
    const { data } = await readTensor(header, name, signal);
    fill(data);
    await nextTurn();
    throwIfAborted(signal);
  }
  const engine = engineFor(source, inputs, options, undefined);
  return new GraphModel({
    engine,
    inputs,
    outputs,
    others: [],
    library,
    weightBytes: file.bytes,
    identity: undefined,
    graphOptimization: options.graphOptimization,
  });
}
