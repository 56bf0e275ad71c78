/** Loads a transformer from safetensors into the engine. */
import { throwIfAborted } from "../../backend.ts";
import { required } from "../../checked.ts";
import type { ModelFiles, TensorData } from "../../backend.ts";
import { buildEncoderDecoder, buildTransformer, type ByteSource } from "../../engine/index.ts";
import { encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";
import { openBlocking } from "../../platform/node/files.ts";
import { pathsOfWeights, readWeightsHeader } from "../../formats/safetensors/read-sharded.ts";
import { tensorRange, readTensor, type SafetensorsHeader } from "../../formats/safetensors/read-safetensors.ts";
import type { NativeState } from "./check-generated-code.ts";
import { createEngine, type NativeLoadOptions } from "./create-engine.ts";
import type { CreateModel } from "./graph-model.ts";
import { OpenModelFiles } from "./open-model-files.ts";

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

/** Returns a function that reads the elements of a tensor as they are stored. */
type ReadWeight = (name: string) => Promise<() => TensorData>;

async function loadFrom<Model>(
  files: OpenModelFiles,
  file: ModelFiles,
  options: NativeLoadOptions,
  state: NativeState,
  create: CreateModel<Model>,
): Promise<Model> {
  const { signal, graphOptimization } = options;
  const paths = openBlocking === undefined ? [] : await pathsOfWeights(file.path);
  const opened = new Map<string, ByteSource>();
  for (const path of paths) opened.set(path, await files.open(path));
  const header = await readWeightsHeader(file.path, signal);
  for (const path of paths) files.check(path);
  const read = openBlocking === undefined ? readAhead(header, signal) : readLazily(header, opened);
  const { architecture = "", config } = file;
  const encoderDecoder = encoderDecoderNames.includes(architecture)
    ? buildEncoderDecoder(architecture, config, header.tensors)
    : undefined;
  const { source, inputs, outputs, pending, detachFromFile } =
    encoderDecoder ?? buildTransformer(architecture, config, header.tensors);
  for (const { name, setReader } of pending) {
    setReader(await read(name));
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

/** Reads tensors ahead, on platforms without blocking file access. */
function readAhead(header: SafetensorsHeader, signal: AbortSignal | undefined): ReadWeight {
  return async (name) => {
    const { data } = await readTensor(header, name, signal);
    return () => data;
  };
}

function readLazily(header: SafetensorsHeader, opened: ReadonlyMap<string, ByteSource>): ReadWeight {
  return async (name) => () => {
    const part = tensorRange(header, name);
    const target = new Uint8Array(part.bytes);
    required(opened.get(part.path), part.path).read(target, part.start);
    return part.tensor(target.buffer).data;
  };
}
