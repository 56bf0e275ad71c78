/**
 * Checks whether a model can serve a task before the model is loaded. The task runs on a stand-in encoder that knows only the graph's inputs and
 * outputs as stated by the files. An error thrown before the task needs tokens or outputs would also occur on the loaded model, after minutes of
 * loading for a large one.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type DataType, type TensorInfo, getDimension } from "../../contract/tensor.ts";
import type { Manifest, Variant } from "../../models/manifest.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { textSettings } from "../encoding/text-settings.ts";
import type { Encoder } from "./run-encodings.ts";

/** Thrown when a task needs tokens or outputs of a model that is not loaded. */
class NotLoadedError extends Error {}

function notLoaded(): never {
  throw new NotLoadedError("the model is not loaded");
}

/** A stand-in tokenizer; every access throws NotLoadedError. */
const unreadTokenizer = new Proxy<Tokenizer>(Object.create(null) as Tokenizer, { get: notLoaded });

/**
 * Runs `work` on a stand-in encoder of each variant. Throws the first error if every variant is refused, and MODEL_UNSUPPORTED for a model without a
 * tokenizer. Returns if any variant may serve.
 */
export async function requireServed(
  manifest: Manifest,
  variants: readonly Variant[],
  work: (encoder: Encoder) => Promise<unknown>,
): Promise<void> {
  textSettings(manifest);
  const refusals: InferyardError[] = [];
  for (const variant of new Set(variants)) {
    const refusal = await getRefusal(() => work(unloadedEncoder(manifest, variant)));
    if (refusal === undefined) return;
    refusals.push(refusal);
  }
  if (refusals[0] !== undefined) throw refusals[0];
}

/**
 * A stand-in for the encoder of a variant. Reading its inputs or outputs throws NotLoadedError if the file does not state them with the shapes of all
 * outputs, on which tasks depend.
 */
function unloadedEncoder(manifest: Manifest, { signature }: Variant): Encoder {
  const isStated = signature?.outputs.every(({ shape }) => shape !== undefined) ?? false;
  return {
    manifest,
    tokenizer: unreadTokenizer,
    get inputs() {
      return isStated ? getTensors(signature?.inputs ?? []) : notLoaded();
    },
    get outputs() {
      return isStated ? getTensors(signature?.outputs ?? []) : notLoaded();
    },
    run: notLoaded,
    loadModules: notLoaded,
    replicas: notLoaded,
  };
}

/** The graph's inputs or outputs that are tensors; sequences and maps are left out. */
function getTensors(values: NonNullable<Variant["signature"]>["inputs"]): readonly TensorInfo[] {
  return values
    .filter(({ type }) => /^\w+$/.test(type))
    .map(({ name, type, shape = [] }) => ({ name, dataType: type as DataType, shape: shape.map(getDimension) }));
}

async function getRefusal(work: () => Promise<unknown>): Promise<InferyardError | undefined> {
  try {
    await work();
    return undefined; // it needs no model at all
  } catch (error) {
    // Other errors, such as NotLoadedError, are caused by the stand-in.
    return error instanceof InferyardError && error.code !== "ABORTED" ? error : undefined;
  }
}
