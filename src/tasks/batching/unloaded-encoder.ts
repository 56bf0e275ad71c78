/**
 * Whether a model can serve a task, found out before it is loaded: the task is begun on what the model's files state of its graph. What it throws before it asks
 * for tokens or numbers, it would throw on the loaded model too, after minutes for a large one.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type DataType, type TensorInfo, dimensionOf } from "../../contract/tensor.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { textSettings } from "../encoding/text-settings.ts";
import type { Encoder } from "./run-encodings.ts";

/** Thrown where a task asks for tokens or numbers of a model that is not loaded. */
class NotLoadedError extends Error {}

function notLoaded(): never {
  throw new NotLoadedError("the model is not loaded");
}

/** A tokenizer of which nothing can be read. */
const unreadTokenizer = new Proxy<Tokenizer>(Object.create(null) as Tokenizer, { get: notLoaded });

/**
 * Throws what `work` throws for every one of the variants before it needs a loaded model, and MODEL_UNSUPPORTED for a model without a tokenizer. Does nothing if one of the variants
 * may serve.
 */
export async function requireServed(
  manifest: Manifest,
  variants: readonly Variant[],
  work: (encoder: Encoder) => Promise<unknown>,
): Promise<void> {
  textSettings(manifest);
  const refusals: InferyardError[] = [];
  for (const variant of new Set(variants)) {
    const refusal = await refusalOf(() => work(unloadedEncoder(manifest, variant)));
    if (refusal === undefined) return;
    refusals.push(refusal);
  }
  if (refusals[0] !== undefined) throw refusals[0];
}

/** The encoder that a variant would be. Its inputs and outputs cannot be read where the file does not state them, or the shape of an output, by which tasks choose. */
function unloadedEncoder(manifest: Manifest, { signature }: Variant): Encoder {
  const isStated = signature?.outputs.every(({ shape }) => shape !== undefined) ?? false;
  return {
    manifest,
    tokenizer: unreadTokenizer,
    get inputs() {
      return isStated ? tensorsOf(signature?.inputs ?? []) : notLoaded();
    },
    get outputs() {
      return isStated ? tensorsOf(signature?.outputs ?? []) : notLoaded();
    },
    run: notLoaded,
    loadModules: notLoaded,
    replicas: notLoaded,
  };
}

/** The values that are tensors. */
function tensorsOf(values: NonNullable<Variant["signature"]>["inputs"]): readonly TensorInfo[] {
  return values
    .filter(({ type }) => /^\w+$/.test(type))
    .map(({ name, type, shape = [] }) => ({ name, dataType: type as DataType, shape: shape.map(dimensionOf) }));
}

async function refusalOf(work: () => Promise<unknown>): Promise<InferyardError | undefined> {
  try {
    await work();
    return undefined; // it needs no model at all
  } catch (error) {
    // Anything else comes of the model's absence.
    return error instanceof InferyardError && error.code !== "ABORTED" ? error : undefined;
  }
}
