/** Texts from the recognizer's output by connectionist temporal classification (Graves et al. 2006): the best class per step, repeats and blanks removed. */
import { at } from "../../contract/checked.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { roundHalfEven } from "../../processors/images/geometry/rounding.ts";
import { InferyardError } from "../../contract/errors.ts";

/** A line as the recognizer reads it. */
export interface RecognizedLine {
  readonly text: string;
  /** Mean probability of the characters, from 0 to 1, with five decimals; 0 for an empty text. */
  readonly score: number;
  readonly characters: readonly RecognizedCharacter[];
  /** Steps of the recognizer over the width of its input, padding included. */
  readonly steps: number;
}

/** One class of the recognizer at one step: a character, or a sequence of them. */
export interface RecognizedCharacter {
  readonly text: string;
  /** Step from 0, from left to right. */
  readonly step: number;
  /** Probability from 0 to 1, with five decimals. */
  readonly score: number;
}

/** Decodes an output `[lines, steps, classes]` of probabilities. Class 0 is the blank, class k is `dictionary[k - 1]`, and the one after these is the space. */
export function decodeCtc(output: Tensor, dictionary: readonly string[]): RecognizedLine[] {
  const [lines = 0, steps = 0, classes = 0] = output.shape;
  const { data } = output;
  if (!(data instanceof Float32Array) || output.shape.length !== 3 || classes < 2)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the recognizer gives ${output.dataType} [${output.shape.join(", ")}], not float32 [lines, steps, classes]`,
    );
  // A probability above one half is the highest of its step. Most steps are blanks, which come first.
  const enough = areDistributions(data, lines, steps * classes, classes) ? 0.51 : Number.POSITIVE_INFINITY;
  return Array.from({ length: lines }, (_, line) => {
    const characters: RecognizedCharacter[] = [];
    let before = -1;
    for (let step = 0; step < steps; step++) {
      const start = (line * steps + step) * classes;
      const best = highest(data, start, start + classes, enough) - start;
      if (best !== before && best !== 0)
        characters.push({ text: characterOf(best, dictionary), step, score: Number((data[start + best] ?? 0).toFixed(5)) });
      before = best;
    }
    const sum = characters.reduce((total, { score }) => total + score, 0);
    const score = characters.length === 0 ? 0 : roundHalfEven((sum / characters.length) * 1e5) / 1e5;
    return { text: characters.map(({ text }) => text).join(""), score, characters, steps };
  });
}

/** Index of the highest value from `start` to before `end`, the first of equal ones, or of the first value from `enough` on. */
function highest(data: Float32Array, start: number, end: number, enough: number): number {
  let best = start;
  let max = data[start] ?? 0;
  for (let index = start + 1; index < end && max < enough; index++) {
    const value = data[index] ?? 0;
    if (value > max) {
      max = value;
      best = index;
    }
  }
  return best;
}

/** Whether the first step of each line is a distribution, as after a softmax: no value is negative, and they sum to 1. */
function areDistributions(data: Float32Array, lines: number, stride: number, classes: number): boolean {
  for (let line = 0; line < lines; line++) {
    let sum = 0;
    for (let index = line * stride; index < line * stride + classes; index++) {
      const value = data[index] ?? 0;
      if (!(value >= 0)) return false;
      sum += value;
    }
    if (Math.abs(sum - 1) > 1e-3) return false;
  }
  return true;
}

function characterOf(index: number, dictionary: readonly string[]): string {
  if (index === dictionary.length + 1) return " ";
  if (index <= dictionary.length) return at(dictionary, index - 1);
  throw new InferyardError(
    "MODEL_INVALID",
    `the recognizer gives the class ${index}; its dictionary has ${dictionary.length} characters`,
  );
}
