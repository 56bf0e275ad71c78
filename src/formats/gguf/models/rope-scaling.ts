/** Rotary position embedding of GGUF models, as `rope_scaling` of config.json states it. */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { requireDecoder } from "../../answers/decoder-answers.ts";
import { withFileWindow } from "../../file-window.ts";
import { decodeTensor } from "../blocks/index.ts";
import type { GgufSettings } from "./settings.ts";
import type { GgufModel } from "./read-model.ts";

/**
 * `rope_scaling` and `partial_rotary_factor`, where the metadata states them. See `ropeFactors` for factors that are tensors.
 */
export function ropeScaling(settings: GgufSettings, headSize: number): Readonly<Record<string, unknown>> {
  const rotated = settings.numberIfGiven("rope.dimension_count") ?? headSize;
  const partial = rotated === headSize ? {} : { partial_rotary_factor: rotated / headSize };
  const method = settings.textIfGiven("rope.scaling.type") ?? "none";
  if (method === "none") return partial;
  const factor = settings.numberIfGiven("rope.scaling.factor") ?? settings.numberIfGiven("rope.scale_linear");
  if (method === "linear")
    return { ...partial, ...(factor === undefined ? {} : { rope_scaling: { rope_type: "linear", factor } }) };
  const context = settings.numberIfGiven("rope.scaling.original_context_length");
  const attention = settings.numberIfGiven("rope.scaling.attn_factor");
  if (method === "yarn") {
    const scaling = {
      rope_type: "yarn",
      factor,
      ...omitUndefined({ original_max_position_embeddings: context, attention_factor: attention }),
    };
    return { ...partial, rope_scaling: scaling };
  }
  if (method === "longrope") return partial;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the rotary embedding is scaled by "${method}", which the engine does not compute`,
    {
      remedy: "run the model on llamacpp",
    },
  );
}

/** Names of the tensors with a factor for each frequency: Llama 3.1, and the short factors of Phi-3. */
const factorTensors = ["rope_freqs.weight", "rope_factors_short.weight"];

/** `rope_scaling` with the factors by which the frequencies are divided, if the model has a tensor of them. */
export async function ropeFactors(settings: GgufSettings, model: GgufModel): Promise<Readonly<Record<string, unknown>>> {
  const tensor = factorTensors.map((name) => model.tensors.get(name)).find((each) => each !== undefined);
  if (tensor === undefined) return {};
  const { path, name, start, bytes, type, elements } = tensor;
  const stored = await withFileWindow(path, path, "GGUF", (window) => window.readBytes(start, bytes));
  requireDecoder(type);
  const scaling = {
    rope_type: "longrope",
    short_factor: [...decodeTensor(type, stored, elements)],
    original_max_position_embeddings:
      settings.numberIfGiven("rope.scaling.original_context_length") ?? settings.number("context_length"),
    attention_factor: settings.numberIfGiven("rope.scaling.attn_factor") ?? 1,
  };
  // Those of Llama 3.1 hold for the whole context.
  if (name === "rope_freqs.weight") scaling.original_max_position_embeddings = settings.number("context_length");
  return { rope_scaling: scaling };
}
