/** Transformers from safetensors and GGUF as graphs of the engine. */
import { omitUndefined } from "../../contract/checked.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import type { LoadOptions, ModelFiles } from "../../contract/backend.ts";
import { buildEncoderDecoder, buildTransformer } from "../../engine/index.ts";
import { encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";
import type { OpenGraph } from "./open-graph.ts";
import type { OpenModelFiles } from "./open-model-files.ts";
import { getPacking } from "../../formats/scaled-blocks/encode.ts";
import type { PackedWeightNames } from "../../engine/index.ts";
import { openGguf, openSafetensors } from "./stored-weights.ts";

/**
 * Opens a transformer. Unsupported configurations and missing tensors are rejected from the header and configuration, before tensor data is read.
 */
export async function openTransformerGraph(files: OpenModelFiles, file: ModelFiles, options: LoadOptions): Promise<OpenGraph> {
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
    throwIfAborted(options.signal);
  }
  return {
    source,
    inputs,
    outputs,
    ...omitUndefined({ headless }),
    encoder: encoderDecoder,
    nonTensorOutputs: [],
    notes: [...notes, ...(packing === undefined ? [] : [packingNote(packing)])],
    weightBytes: packTo === undefined ? file.bytes : 0,
    identity: files.identity === undefined || packTo === undefined ? files.identity : `${files.identity} as ${packTo}`,
    detachFromFile,
  };
}

/** What was packed, for the evidence. */
function packingNote({ type, packed, unfit }: PackedWeightNames): string {
  const { format, maxError } = getPacking(type);
  const error = `a weight differs by at most ${(100 * maxError).toFixed(1)} % of the largest in its block`;
  const kept = unfit.size === 0 ? "" : `; ${unfit.size} stay float32, since their rows are not a multiple of ${format.elements}`;
  return `${packed.size} matrices packed to ${type} in blocks of ${format.elements} while loading: ${error}${kept}`;
}
