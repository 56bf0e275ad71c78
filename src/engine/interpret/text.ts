/** Interpreted functions on strings. */
import { at } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { broadcastShape, broadcastStrides, elementOffsets } from "../ir/broadcast.ts";
import { toBigints, type Literal, toLiteral, toNumbers, toStrings } from "../ir/literal.ts";
import { isBigIntType } from "../ir/element-types.ts";
import type { CallAttributes } from "../ir/operations.ts";
import { fullMatcher } from "../../regular-expressions/re2.ts";
import type { One, Two } from "./operands.ts";

type Literals = readonly Literal[];

/** ONNX StringConcat: concatenates strings element by element, with broadcasting. */
export function concatenateStrings([one, other]: Two): Literals {
  const shape = broadcastShape(one.shape, other.shape);
  const [first, second] = [toStrings(one), toStrings(other)];
  const [offsets, otherOffsets] = [one, other].map((each) => elementOffsets(shape, broadcastStrides(each.shape, shape)));
  const data = Array.from(
    { length: elementCount(shape) },
    (_, index) => `${first[offsets?.[index] ?? 0] ?? ""}${second[otherOffsets?.[index] ?? 0] ?? ""}`,
  );
  return [{ dataType: "string", shape, data }];
}

/** ONNX RegexFullMatch: whether each string matches the attribute `pattern` as a whole. */
export function regexFullMatch([texts]: One, { pattern }: CallAttributes): Literals {
  const matches = fullMatcher(String(pattern));
  return [
    toLiteral(
      "bool",
      texts.shape,
      toStrings(texts).map((text) => Number(matches(text))),
    ),
  ];
}

/** ONNX TfIdfVectorizer: weighted counts of the n-grams of a pool in each row. The parameters are the operator's attributes. */
export function tfIdf([tokens]: One, attributes: CallAttributes): Literals {
  const { minGramLength, maxGramLength, maxSkipCount, mode } = attributes;
  const list = (name: string): readonly (number | string)[] => attributes[name] as readonly (number | string)[];
  const [pool, counts, indexes, weights] = ["pool", "counts", "indexes", "weights"].map(list);
  if (pool === undefined || counts === undefined || indexes === undefined || weights === undefined)
    throw new Error("a list attribute is missing");
  const columns = indexes.reduce<number>((largest, index) => Math.max(largest, Number(index)), -1) + 1;
  const gramsOf = grams(pool, counts.map(Number));
  const length = tokens.shape.at(-1) ?? 0;
  const outer = tokens.shape.slice(0, -1);
  const rows = elementCount(outer);
  const words = getWords(tokens);
  const results = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const found = new Map<number, number>();
    for (let size = Number(minGramLength); size <= Math.min(Number(maxGramLength), gramsOf.length); size += 1) {
      const known = gramsOf[size - 1];
      if (known === undefined) continue;
      const skips = size === 1 ? 0 : Number(maxSkipCount); // a single token has nothing to skip
      for (let step = 1; step <= skips + 1 && (size - 1) * step < length; step += 1) {
        for (let start = 0; start + (size - 1) * step < length; start += 1) {
          const gram = Array.from({ length: size }, (_, index) => words[row * length + start + index * step] ?? "");
          const number = known.get(JSON.stringify(gram));
          if (number !== undefined) found.set(number, (found.get(number) ?? 0) + 1);
        }
      }
    }
    for (const [number, count] of found) {
      const column = row * columns + Number(at(indexes, number));
      const weight = Number(weights[number] ?? 1);
      results[column] = (results[column] ?? 0) + (mode === "TF" ? count : mode === "IDF" ? weight : count * weight);
    }
  }
  return [toLiteral("float32", [...outer, columns], results)];
}

/** For each n from 1 on, the number of every n-gram of the pool, by its JSON text. `counts`: where the n-grams of each size start in the pool. */
function grams(pool: readonly (number | string)[], counts: readonly number[]): readonly ReadonlyMap<string, number>[] {
  let number = 0;
  return counts.map((begin, index) => {
    const size = index + 1;
    const found = new Map<string, number>();
    const end = Math.min(counts[index + 1] ?? pool.length, pool.length);
    for (let start = Math.max(0, begin); start + size <= end; start += size) {
      found.set(JSON.stringify(pool.slice(start, start + size).map(String)), number);
      number += 1;
    }
    return found;
  });
}

function getWords(tokens: Literal): readonly string[] {
  if (tokens.dataType === "string") return toStrings(tokens);
  return isBigIntType(tokens.dataType) ? Array.from(toBigints(tokens), String) : Array.from(toNumbers(tokens), String);
}
