/** Reads and checks the options of a request, apart from those of the task. */
import { omitUndefined } from "../checked.ts";
import { InferyardError } from "../errors.ts";
import { modelOptionNames } from "../runtime/options/options.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";
import type { ChunkSettings } from "../tasks/chunking/chunk-options.ts";
import type { EmbedOptions, QuantizedEmbedOptions } from "../tasks/embedding/embed-options.ts";

/** A single input as a list of one. Throws INPUT_INVALID for a value that is neither an input nor a list. */
export function toList<Item extends string | object>(texts: Item | readonly Item[]): readonly Item[] {
  if (Array.isArray(texts)) return texts;
  if (typeof texts === "string" || (typeof texts === "object" && texts !== null)) return [texts as Item];
  throw new InferyardError("INPUT_INVALID", "texts must be a string or an array of strings");
}

/** Whether the options of an embedding call ask for quantized vectors. */
export function isQuantized(options: EmbedOptions | QuantizedEmbedOptions): options is QuantizedEmbedOptions {
  return (
    (options.precision !== undefined && options.precision !== "float32") || ("ranges" in options && options.ranges !== undefined)
  );
}

/** The options of a request that decide which model is loaded, and where. Other options must not cause a second load of the same model. */
export function modelOptions(request: ModelOptions): ModelOptions {
  return omitUndefined(Object.fromEntries(modelOptionNames.map((name) => [name, request[name]])));
}

/** Throws INPUT_INVALID for an option of placement with a chunking strategy that loads no model, where it would have no effect. */
export function refusePlacementOptions(
  { signal: _signal, variant: _variant, ...asked }: ModelOptions,
  { strategy }: ChunkSettings,
): void {
  const [name] = Object.keys(asked);
  if (name === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${name}" has no effect with the strategy ${strategy}, which loads no model`, {
    remedy: `leave "${name}" out, or choose a strategy that does: semantic, late or token-classification`,
  });
}

/** Throws INPUT_INVALID for an option of loading that is given together with a handle, whose model is loaded already. */
export function refuseLoadOptions({ signal: _signal, ...asked }: ModelOptions): void {
  const [name] = Object.keys(asked);
  if (name === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${name}" was given together with a model that is loaded already`, {
    remedy: `give "${name}" to load() instead`,
  });
}
