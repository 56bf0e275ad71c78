/** Loads a transformer from safetensors or GGUF into the engine. */
import { throwIfAborted } from "../../backend.ts";
import type { ModelFiles } from "../../backend.ts";
import { buildEncoderDecoder, buildTransformer } from "../../engine/index.ts";
import { encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";
import type { NativeState } from "./check-generated-code.ts";
import { createEngine, type NativeLoadOptions } from "./create-engine.ts";
import type { CreateModel } from "./graph-model.ts";
import { OpenModelFiles } from "./open-model-files.ts";
import { openGguf, openSafetensors } from "./stored-weights.ts";

/**
 * Loads a transformer; `create` makes the loaded model of it. Unsupported configurations and missing tensors are rejected from the header and
 * configuration, before tensor data is read.
 */
export async function loadTransformer<Model>(
  file: ModelFiles,
  options: NativeLoadOptions,
  state: NativeState,
  create: CreateModel<Model>,
): Promise<Model> {
  const files = new OpenModelFiles();
  try {
    return await loadFrom(files, file, options, state, create);
  } finally {
    files.close();
  }
}

async function loadFrom<Model>(
  files: OpenModelFiles,
  file: ModelFiles,
  options: NativeLoadOptions,
  state: NativeState,
  create: CreateModel<Model>,
): Promise<Model> {
  const { signal, graphOptimization } = options;
  const { tensors, read } = await (file.format === "gguf" ? openGguf : openSafetensors)(files, file, signal);
  const { architecture = "", config } = file;
  const encoderDecoder = encoderDecoderNames.includes(architecture)
    ? buildEncoderDecoder(architecture, config, tensors)
    : undefined;
  const { source, inputs, outputs, pending, detachFromFile } = encoderDecoder ?? buildTransformer(architecture, config, tensors);
  for (const { name, setReader } of pending) {
    setReader(...(await read(name)));
    throwIfAborted(signal);
  }
  const { identity } = files;
  const engine = createEngine(source, inputs, options, identity, state);
  const loaded = await create({
    engine,
    inputs,
    outputs,
    encoder: encoderDecoder,
    nonTensorOutputs: [],
    library: state.library,
    weightBytes: file.bytes,
    identity,
    graphOptimization,
  });
  detachFromFile();
  return loaded;
}
