/** Proof that a loaded model runs: a probe input goes through, the answer is finite, the known answers hold, the engine says where. */
import type { LoadedModel, TensorInfo, TensorMap } from "../../backend.ts";
import { type ErrorCode, InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { type Tensor, elementCount, firstNonFinite, zeros } from "../../tensor.ts";

/**
 * Checks a model against the known answers of its manifest and says what it found, or undefined where there are none.
 * Comes from the tasks, which know how text becomes tensors. Throws VERIFICATION_FAILED.
 */
export type AnswerCheck = (model: LoadedModel, manifest: Manifest, signal?: AbortSignal) => Promise<string | undefined>;

/** Sentences for the decision's `evidence`. Throws VERIFICATION_FAILED. */
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

/** Runs the manifest's probe input, or a made-up one, and demands finite numbers. Says what it did, which may be nothing. */
export async function runProbe(
  model: Pick<LoadedModel, "inputs" | "outputs" | "run">,
  manifest: Manifest,
  signal?: AbortSignal,
): Promise<string> {
  const ran = "a probe input ran, and its output is finite";
  // Named: a model may have outputs besides that are no tensors.
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
    // A sound model may divide by what it is given, or take a logarithm of it: ones are tried before the engine is blamed.
    await run(probeInputs(model.inputs, 1) ?? zero).catch(() => {
      throw error;
    });
  }
  return ran;
}

/** Failures that may come of the made-up input, and not of the engine. */
const inputFailureCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["INPUT_INVALID", "RUN_FAILED", "VERIFICATION_FAILED"]);

function refuseNonFinite(outputs: TensorMap): void {
  for (const [name, tensor] of Object.entries(outputs)) {
    const place = firstNonFinite(tensor);
    if (place === -1) continue;
    throw new InferyardError(
      "VERIFICATION_FAILED",
      `a probe input gave a value that is not a number in output "${name}", element ${place}`,
      {
        remedy: "try another variant or backend; where the model is sound, give it a probe input in inferyard.json",
      },
    );
  }
}

/** Free dimensions by the names that exports give them. */
const sequenceLength = 8;
const freeSizes: readonly { readonly pattern: RegExp; readonly size: number }[] = [
  { pattern: /^(batch|batch_size|n|b)$/i, size: 1 },
  { pattern: /^past_\w*$/i, size: 0 }, // a decoder's first call has seen nothing yet
  { pattern: /seq|length/i, size: sequenceLength },
];
/** Elements of all made-up inputs together: 256 MB of float32. */
const maxProbeElements = 2 ** 26;
/** A text counts as so many. */
const elementsPerString = 64;
/** Samples of sound, by transformers' name: a tenth of a second at 16 kHz, since the first convolution needs some hundreds. */
const audioInput = "input_values";
const audioSamples = 1600;
const tokenInputs: ReadonlySet<string> = new Set(["input_ids", "attention_mask", "token_type_ids", "position_ids"]);

/**
 * Inputs for a model that names no probe: `fill` in every input, ones in attention masks. undefined where a size is free and its name says
 * nothing, or no shape is stated, since a made-up size could be refused by a sound model. MODEL_UNSUPPORTED where the stated shapes have more
 * than 2^26 elements.
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
