/** Synthetic inputs for the probe of a model whose manifest names none: shapes from the model's description, and sizes from names. */
import { emptyCacheShape, isCacheInput } from "./cache-inputs.ts";
import { maskInput, tokenInputs } from "../../models/transformer-sizes.ts";
import { type InferyardError, unsupportedModel } from "../../contract/errors.ts";
import { getDimension, elementCount, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";

/** Sizes of free dimensions, by the names that exporters give them. */
const sequenceLength = 8;
/**
 * Lengths that are tried for inputs that are not tokens, in order: 8; 512, which is a frame of speech at 16 kHz (32 ms); 576, the same with the end of
 * the frame before it; 1 s of sound at 16 kHz.
 */
export const guessedLengths: readonly [number, ...number[]] = [sequenceLength, 512, 576, 16_000];
const freeSizes: readonly { readonly pattern: RegExp; readonly size: number }[] = [
  { pattern: /^(batch|batch_size|n|b)$/i, size: 1 },
  { pattern: /^past_\w*$/i, size: 0 }, // tokens that were read before the first call
];
const lengthName = /seq|length/i;
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

/** Options of `probeInputs`. */
export interface ProbeInputOptions {
  /** The value of every element, except that attention masks are ones. Default: 0. */
  readonly fill?: 0 | 1;
  /** Size of dimensions that are named as lengths, in elements. Default: 8. */
  readonly length?: number;
}

/**
 * Synthesizes probe inputs. Returns undefined if the size of a free dimension cannot be derived from its name or an input states
 * no shape, since a correct model could refuse an arbitrary size. Throws MODEL_UNSUPPORTED if the shapes have more than 2^26
 * elements.
 */
export function probeInputs(
  inputs: readonly TensorInfo[],
  { fill = 0, length = sequenceLength }: ProbeInputOptions = {},
): TensorMap | undefined {
  const entries: [string, TensorMap[string]][] = [];
  let elements = 0;
  for (const input of inputs) {
    const shape = input.shape.map((dimension, axis) => getSize(getDimension(dimension), axis, input, length));
    if (shape.length === 0 || !shape.every((size) => size !== undefined)) return undefined;
    elements += elementCount(shape) * (input.dataType === "string" ? elementsPerString : 1);
    if (elements > maxProbeElements) throw tooLarge(input, shape);
    const tensor = zeros(input.dataType, shape);
    if (fill === 1 || input.name === maskInput) fillWithOnes(tensor);
    entries.push([input.name, tensor]);
  }
  return Object.fromEntries(entries);
}

/** Whether the length of an input is a guess. The length of token ids is not: a text model takes any number from one up. */
export function hasGuessedLength(inputs: readonly TensorInfo[]): boolean {
  if (inputs.some(({ name }) => tokenInputs.has(name))) return false;
  return inputs.some(({ name, shape }) =>
    shape.some((each) => typeof each === "string" && (lengthName.test(each) || name === audioInput)),
  );
}

function getSize(dimension: number | string, axis: number, input: TensorInfo, length: number): number | undefined {
  if (typeof dimension === "number") return dimension;
  if (isCacheInput(input)) return emptyCacheShape(input, 1)[axis];
  if (tokenInputs.has(input.name) && input.shape.length === 2) return axis === 0 ? 1 : sequenceLength;
  if (input.name === audioInput && input.shape.length === 2 && axis === 1) return Math.max(audioSamples, length);
  const known = freeSizes.find(({ pattern }) => pattern.test(dimension));
  return known === undefined && lengthName.test(dimension) ? length : known?.size;
}

function tooLarge({ name }: TensorInfo, shape: readonly number[]): InferyardError {
  const message = `input ${JSON.stringify(name)} has the shape [${shape.join(", ")}]; the inputs of a probe may have ${maxProbeElements} elements in all`;
  return unsupportedModel(message, "export the model with smaller or free sizes");
}

function fillWithOnes({ data, dataType }: Tensor): void {
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) data.fill(1n);
  else if (data instanceof Uint16Array && dataType !== "uint16") data.fill(dataType === "float16" ? 0x3c00 : 0x3f80);
  else if (ArrayBuffer.isView(data)) data.fill(1);
}
