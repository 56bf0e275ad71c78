/** Loads a transformer from safetensors or GGUF into the engine. */
import { throwIfAborted } from "../../contract/errors.ts";
import type { ModelFiles } from "../../contract/backend.ts";
import { buildEncoderDecoder, buildTransformer } from "../../engine/index.ts";
import { encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";
import { libraryOf, type NativeState } from "./check-generated-code.ts";
import { createEngine, type NativeLoadOptions } from "./create-engine.ts";
import type { CreateModel } from "./graph-model.ts";
import { OpenModelFiles } from "./open-model-files.ts";
import { packingOf } from "../../formats/scaled-blocks/encode.ts";
import type { PackedWeightNames } from "../../engine/index.ts";
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
  const { tensors, read, notes = [] } = await (file.format === "gguf" ? openGguf : openSafetensors)(files, file, options);
  const { architecture = "", config } = file;
  const packTo = file.packing?.to;
  const encoderDecoder = encoderDecoderNames.includes(architecture)
    ? buildEncoderDecoder(architecture, config, tensors, packTo)
    : undefined;
  const transformer = encoderDecoder ?? buildTransformer(architecture, config, tensors, packTo);
  const { source, inputs, outputs, headless, pending, packing, detachFromFile } = transformer;
  for (const { name, setReader } of pending) {
    setReader(...(await read(name)));
    throwIfAborted(signal);
  }
  const identity = files.identity === undefined || packTo === undefined ? files.identity : `${files.identity} as ${packTo}`;
  const engine = await createEngine(source, inputs, options, identity, state);
  const loaded = await create({
    engine,
    inputs,
    outputs,
    ...(headless === undefined ? {} : { headless }),
    encoder: encoderDecoder,
    nonTensorOutputs: [],
    notes: [...notes, ...(packing === undefined ? [] : [packingNote(packing)])],
    library: libraryOf(state, options.kernels),
    weightBytes: packTo === undefined ? file.bytes : 0,
    identity,
    graphOptimization,
  });
  detachFromFile();
  return loaded;
}

/** What was packed, for the evidence. */
function packingNote({ type, packed, unfit }: PackedWeightNames): string {
  const { format, maxError } = packingOf(type);
  const error = `a weight differs by at most ${(100 * maxError).toFixed(1)} % of the largest in its block`;
  const kept = unfit.size === 0 ? "" : `; ${unfit.size} stay float32, since their rows are not a multiple of ${format.elements}`;
  return `${packed.size} matrices packed to ${type} in blocks of ${format.elements} while loading: ${error}${kept}`;
}
