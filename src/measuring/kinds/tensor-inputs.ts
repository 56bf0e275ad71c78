/** Generates inputs for a model on tensors from its declared inputs: shapes from declared sizes and dimension names, values from a fixed sequence. */
import { getDimension, elementCount, type Tensor, type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import { encodeFloat16 } from "../../contract/float16.ts";
import { encodeFloat } from "../../contract/small-floats.ts";
import { InferyardError } from "../../contract/errors.ts";
import { emptyCacheShape, isCacheInput } from "../../runtime/loading/cache-inputs.ts";
import { guessedLengths, hasGuessedLength } from "../../runtime/loading/probe-inputs.ts";

/** A rule for filling generated inputs. */
export interface Filling {
  /** Size of dynamic dimensions whose names imply no other size. */
  readonly length: number;
  /** Size of dynamic dimensions that number the rows of a batch. Default: 1. */
  readonly batch?: number;
  /** "varied": floats from 0 to 1, and small integers. "bits": floats from 0 to 1, and integers 0 and 1. A number: every element. */
  readonly values: "varied" | "bits" | 1 | 0;
}

/** Fillings in the order in which they are tried. Larger lengths are included if the length is a guess. */
export function fillingsFor(inputs: readonly TensorInfo[]): readonly Filling[] {
  const lengths = hasGuessedLength(inputs) ? guessedLengths : guessedLengths.slice(0, 1);
  return lengths.flatMap((length) => (["varied", "bits", 1, 0] as const).map((values) => ({ length, values })));
}

/** Maximum number of elements of all inputs together: 256 MB of float32. */
const maxElements = 2 ** 26;

/** Default height and width of images if config.json states no size. */
const defaultImageSize = 224;

type Config = Readonly<Record<string, unknown>>;

/**
 * Generates the input tensors. `config`: the model's config.json, which states image sizes and the vocabulary size. Throws LIMIT_EXCEEDED for more
 * than 2^26 elements.
 */
export function filledInputs(inputs: readonly TensorInfo[], config: Config, filling: Filling): TensorMap {
  let elements = 0;
  return Object.fromEntries(
    inputs.map((input) => {
      const shape = getShape(input, config, filling);
      elements += elementCount(shape);
      if (elements > maxElements) {
        throw new InferyardError(
          "LIMIT_EXCEEDED",
          `input "${input.name}" has the shape [${shape.join(", ")}], and inputs may have ${maxElements} elements`,
        );
      }
      const tensor = zeros(input.dataType, shape);
      fill(tensor, input.name === "attention_mask" ? 1 : filling.values, getVocabulary(config));
      return [input.name, tensor];
    }),
  );
}

function getShape(input: TensorInfo, config: Config, { length, batch = 1 }: Filling): readonly number[] {
  if (isCacheInput(input)) return emptyCacheShape(input, batch);
  return input.shape.map((stated, axis) => {
    const dimension = getDimension(stated);
    if (typeof dimension === "number") return dimension;
    if (/^past_\w*$/i.test(dimension)) return 0; // tokens that were read before the first call
    if (/batch/i.test(dimension) || (axis === 0 && !/seq|length/i.test(dimension))) return batch;
    if (/channel/i.test(dimension)) return sizeIn(config, "num_channels") ?? 3;
    if (/height|width/i.test(dimension)) return sizeIn(config, "image_size") ?? defaultImageSize;
    return length;
  });
}

/** A size in config.json, or in its `vision_config` section for a model that reads images and texts. */
function sizeIn(config: Config, name: string): number | undefined {
  const section = config["vision_config"];
  const sections = [config, ...(typeof section === "object" && section !== null ? [section as Config] : [])];
  return sections.map((each) => each[name]).find((value) => typeof value === "number");
}

function getVocabulary(config: Config): number {
  const stated = config["vocab_size"];
  return typeof stated === "number" && stated > 1 ? stated : Number.POSITIVE_INFINITY;
}

/** Period of the integer values; a prime, so that rows differ. */
const integerPeriod = 97;

function fill({ data, dataType }: Tensor, values: Filling["values"], vocabulary: number): void {
  const period = Math.min(integerPeriod, vocabulary);
  const integer = (index: number): number => {
    if (typeof values === "number") return values;
    return values === "bits" ? (index >> 1) % 2 : ((index + 1) * 31) % period;
  };
  // The fractional parts of multiples of the golden ratio are spread evenly (Weyl's sequence).
  const fraction = (index: number): number => (typeof values === "number" ? values : ((index + 1) * 0.6180339887498949) % 1);
  if (Array.isArray(data)) return; // strings stay empty
  if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
    for (let index = 0; index < data.length; index += 1) data[index] = BigInt(integer(index));
    return;
  }
  const numbers = data as Exclude<typeof data, readonly string[]> & { [index: number]: number };
  const value = valueFor(dataType, integer, fraction);
  for (let index = 0; index < numbers.length; index += 1) numbers[index] = value(index);
}

function valueFor(
  dataType: Tensor["dataType"],
  integer: (index: number) => number,
  fraction: (index: number) => number,
): (index: number) => number {
  if (dataType === "float16") return (index) => encodeFloat16(fraction(index));
  if (dataType === "bfloat16") return (index) => encodeFloat("bfloat16", fraction(index), true);
  if (dataType.includes("float")) return fraction;
  return dataType === "bool" ? (index) => integer(index) % 2 : integer;
}
