/** Loads a transformer from safetensors for our own engine. */
import { throwIfAborted } from "../../backend.ts";
import type { Library, LoadedModel, LoadOptions, ModelFiles, TensorData } from "../../backend.ts";
import { buildTransformer, type ModelBytes } from "../../engine/index.ts";
import { openBlocking } from "../../platform/node/files.ts";
import { partOf, readSafetensorsHeader, readTensor, type SafetensorsHeader } from "../../formats/safetensors/read-safetensors.ts";
import { engineFor } from "./create-engine.ts";
import { GraphModel } from "./graph-model.ts";
import { OpenModelFiles } from "./open-model-files.ts";

/** Refuses by the header and the configuration, before any tensor is read. */
export async function loadTransformer(file: ModelFiles, options: LoadOptions, library: Library): Promise<LoadedModel> {
  const files = new OpenModelFiles();
  try {
    return await loadFrom(files, file, options, library);
  } finally {
    files.close();
  }
}

/** Gives the elements of a tensor as they are stored. */
type ReadWeight = (name: string) => Promise<() => TensorData>;

async function loadFrom(files: OpenModelFiles, file: ModelFiles, options: LoadOptions, library: Library): Promise<LoadedModel> {
  const { signal, graphOptimization } = options;
  const bytes = openBlocking === undefined ? undefined : await files.open(file.path);
  const header = await readSafetensorsHeader(file.path, signal);
  files.check(file.path);
  const read = bytes === undefined ? readBefore(header, signal) : readWhenWanted(header, bytes);
  const { source, inputs, outputs, pending, keep } = buildTransformer(file.architecture ?? "", file.config, header.tensors);
  for (const { name, supply } of pending) {
    supply(await read(name));
    throwIfAborted(signal);
  }
  const { identity } = files;
  const engine = engineFor(source, inputs, options, identity);
  keep();
  return new GraphModel({ engine, inputs, outputs, others: [], library, weightBytes: file.bytes, identity, graphOptimization });
}

/** Where files must be waited for. */
function readBefore(header: SafetensorsHeader, signal: AbortSignal | undefined): ReadWeight {
  return async (name) => {
    const { data } = await readTensor(header, name, signal);
    return () => data;
  };
}

function readWhenWanted(header: SafetensorsHeader, bytes: ModelBytes): ReadWeight {
  return async (name) => () => {
    const part = partOf(header, name);
    const target = new Uint8Array(part.bytes);
    bytes.read(target, part.start);
    return part.tensor(target.buffer).data;
  };
}
