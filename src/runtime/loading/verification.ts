/**
 * Verification of a loaded model: it runs a probe input, its outputs are finite, the known answers of its manifest hold, and
 * the engine reports where it computed.
 */
import type { LoadedModel, TensorInfo, TensorMap } from "../../backend.ts";
import { type ErrorCode, InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { type Tensor, elementCount, firstNonFinite, zeros } from "../../tensor.ts";

/**
 * Compares a model's outputs with the known answers of its manifest. Returns a sentence for the evidence, or undefined if the
 * manifest has no answers. Implemented by `tasks/`, which can turn texts into tensors. Throws VERIFICATION_FAILED.
 */
export type AnswerCheck = (model: LoadedModel, manifest: Manifest, signal?: AbortSignal) => Promise<string | undefined>;

/** Verifies a model and returns sentences for the decision's `evidence`. Throws VERIFICATION_FAILED. */
export async function verify(
  model: LoadedModel,
  manifest: Manifest,
  checkAnswers: AnswerCheck,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const evidence = [await runProbe(model, manifest, signal)];
  const answers = await checkAnswers(model, manifest, signal);
  if (answers !== undefined) evidence.push(answers);
  return [...evidence, ...(await model.evidence())];
}

/**
 * Runs the manifest's probe input, or a synthetic one, and requires finite outputs. Returns a sentence that says what was run.
 * If no input can be synthesized, nothing is run and the sentence says so. Throws VERIFICATION_FAILED.
 */
export async function runProbe(
  model: Pick<LoadedModel, "inputs" | "outputs" | "run">,
  manifest: Manifest,
  signal?: AbortSignal,
): Promise<string> {
  const ran = "a probe input ran, and its output is finite";
  // Tensor outputs are named explicitly: a model may also have outputs that are not tensors.
  const options = { outputs: model.outputs.map(({ name }) => name), ...(signal === undefined ? {} : { signal }) };
  const run = async (inputs: TensorMap): Promise<void> => refuseNonFinite(await model.run(inputs, options));
  if (manifest.probe?.kind === "tensors") {
    await run(manifest.probe.inputs);
    return ran;
  }
  const zero = probeInputs(model.inputs);
  if (zero === undefined) return "not run yet: the sizes of this model's inputs are free, and its manifest names no probe";
  try {
    await run(zero);
  } catch (error) {
    if (!(error instanceof InferyardError && inputFailureCodes.has(error.code))) throw error;
    // A correct model may divide by its input or take its logarithm. Ones are tried before the engine is blamed.
    await run(probeInputs(model.inputs, 1) ?? zero).catch(() => {
      throw error;
    });
  }
  return ran;
}

/** Errors that a synthetic input may cause in a correct engine. */
const inputFailureCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["INPUT_INVALID", "RUN_FAILED", "VERIFICATION_FAILED"]);

function refuseNonFinite(outputs: TensorMap): void {
  for (const [name, tensor] of Object.entries(outputs)) {
    const index = firstNonFinite(tensor);
    if (index === -1) continue;
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `a probe input gave a value that is not a number in output "${name}", element ${index}`,
      {
        remedy: "try another variant or backend; where the model is sound, give it a probe input in inferyard.json",
      },
    );
  }
}

/** Sizes of free dimensions, by the names that exporters give them. */
const sequenceLength = 8;
const freeSizes: readonly { readonly pattern: RegExp; readonly size: number }[] = [
  { pattern: /^(batch|batch_size|n|b)$/i, size: 1 },
  { pattern: /^past_\w*$/i, size: 0 }, // the cache of a decoder is empty at the first call
  { pattern: /seq|length/i, size: sequenceLength },
];
/** Limit of elements of all synthetic inputs together: 256 MB of float32. */
const maxProbeElements = 2 ** 26;
/** Elements that one string counts as. */
const elementsPerString = 64;
/**
 * Name that transformers gives to audio samples. A probe has 0.1 s at 16 kHz, since the first convolution needs a few hundred
 * samples.
 */
const audioInput = "input_values";
const audioSamples = 1600;
const tokenInputs: ReadonlySet<string> = new Set(["input_ids", "attention_mask", "token_type_ids", "position_ids"]);

/**
 * Synthesizes probe inputs: every element is `fill`, except that attention masks are ones. Returns undefined if the size of a
 * free dimension cannot be derived from its name or an input states no shape, since a correct model could refuse an arbitrary
 * size. Throws MODEL_UNSUPPORTED if the stated shapes have more than 2^26 elements.
 */
export function probeInputs(inputs: readonly TensorInfo[], fill: 0 | 1 = 0): TensorMap | undefined {
  const entries: [string, TensorMap[string]][] = [];
  let elements = 0;
  for (const input of inputs) {
    const shape = input.shape.map((dimension, axis) => sizeOf(dimension, axis, input));
    if (shape.length === 0 || !shape.every((size) => size !== undefined)) return undefined;
    elements += elementCount(shape) * (input.dataType === "string" ? elementsPerString : 1);
    if (elements > maxProbeElements) throw tooLarge(input, shape);
    const tensor = zeros(input.dataType, shape);
    if (fill === 1 || input.name === "attention_mask") fillWithOnes(tensor);
    entries.push([input.name, tensor]);
  }
  return Object.fromEntries(entries);
}

function sizeOf(dimension: number | string, axis: number, input: TensorInfo): number | undefined {
  if (typeof dimension === "number") return dimension >= 0 ? dimension : undefined;
  if (tokenInputs.has(input.name) && input.shape.length === 2) return axis === 0 ? 1 : sequenceLength;
  if (input.name === audioInput && input.shape.length === 2 && axis === 1) return audioSamples;
  return freeSizes.find(({ pattern }) => pattern.test(dimension))?.size;
}

function tooLarge({ name }: TensorInfo, shape: readonly number[]): InferyardError {
  const message = `input ${JSON.stringify(name)} has the shape [${shape.join(", ")}]; the inputs of a probe may have ${maxProbeElements} elements in all`;
  return new InferyardError("MODEL_UNSUPPORTED", message, {
    remedy: "export the model with smaller or free sizes",
  });
}

function fillWithOnes({ data, dataType }: Tensor): void {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) data.fill(1n);
  else if (data instanceof Uint16Array && dataType !== "uint16") data.fill(dataType === "float16" ? 0x3c00 : 0x3f80);
  else if (ArrayBuffer.isView(data)) data.fill(1);
}
