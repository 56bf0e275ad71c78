/** Functions of texts. */
import { elementCount } from "../../tensor.ts";
import { broadcastShape, broadcastStrides, elementOffsets } from "../ir/broadcast.ts";
import { bigintsOf, type Literal, literalOf, numbersOf, stringsOf } from "../ir/literal.ts";
import { isBigIntType } from "../ir/element-types.ts";
import type { CallAttributes } from "../ir/operations.ts";
import { fullMatcher } from "./linear-regex.ts";

type Literals = readonly Literal[];

export function concatenateStrings([one, other]: Literals): Literals {
  if (one === undefined || other === undefined) throw new Error("it lacks an operand");
  const shape = broadcastShape(one.shape, other.shape);
  const [first, second] = [stringsOf(one), stringsOf(other)];
  const [at, then] = [one, other].map((each) => elementOffsets(shape, broadcastStrides(each.shape, shape)));
  const data = Array.from(
    { length: elementCount(shape) },
    (_, index) => `${first[at?.[index] ?? 0] ?? ""}${second[then?.[index] ?? 0] ?? ""}`,
  );
  return [{ dataType: "string", shape, data }];
}

export function regexFullMatch([texts]: Literals, { pattern }: CallAttributes): Literals {
  if (texts === undefined) throw new Error("it lacks its operand");
  const matches = fullMatcher(String(pattern));
  return [
    literalOf(
      "bool",
      texts.shape,
      stringsOf(texts).map((text) => Number(matches(text))),
    ),
  ];
}

/** How often n-grams of a pool are in each row. Attributes: see ONNX's TfIdfVectorizer. */
export function tfIdf([tokens]: Literals, attributes: CallAttributes): Literals {
  if (tokens === undefined) throw new Error("it lacks its operand");
  const { minGramLength, maxGramLength, maxSkipCount, mode } = attributes;
  const list = (name: string): readonly (number | string)[] => attributes[name] as readonly (number | string)[];
  const [pool, counts, indexes, weights] = ["pool", "counts", "indexes", "weights"].map(list);
  if (pool === undefined || counts === undefined || indexes === undefined || weights === undefined)
    throw new Error("it lacks a list");
  const columns = indexes.reduce<number>((largest, index) => Math.max(largest, Number(index)), -1) + 1;
  const gramsOf = grams(pool, counts.map(Number));
  const length = tokens.shape.at(-1) ?? 0;
  const rows = tokens.shape.length > 1 ? (tokens.shape[0] ?? 0) : 1;
  const words = wordsOf(tokens);
  const results = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const found = new Map<number, number>();
    for (let size = Number(minGramLength); size <= Math.min(Number(maxGramLength), gramsOf.length); size += 1) {
      const known = gramsOf[size - 1];
      if (known === undefined) continue;
      const skips = size === 1 ? 0 : Number(maxSkipCount); // a single token skips none
      for (let step = 1; step <= skips + 1 && (size - 1) * step < length; step += 1) {
        for (let start = 0; start + (size - 1) * step < length; start += 1) {
          const gram = Array.from({ length: size }, (_, index) => words[row * length + start + index * step] ?? "");
          const place = known.get(JSON.stringify(gram));
          if (place !== undefined) found.set(place, (found.get(place) ?? 0) + 1);
        }
      }
    }
    for (const [place, count] of found) {
      const column = row * columns + Number(indexes[place] ?? 0);
      const weight = Number(weights[place] ?? 1);
      results[column] = (results[column] ?? 0) + (mode === "TF" ? count : mode === "IDF" ? weight : count * weight);
    }
  }
  return [literalOf("float32", tokens.shape.length > 1 ? [rows, columns] : [columns], results)];
}

/** For each size from 1 on: the place in the pool's order of every n-gram of that size. `counts` tells where each size begins. */
function grams(pool: readonly (number | string)[], counts: readonly number[]): readonly ReadonlyMap<string, number>[] {
  let place = 0;
  return counts.map((begin, index) => {
    const size = index + 1;
    const found = new Map<string, number>();
    const end = Math.min(counts[index + 1] ?? pool.length, pool.length);
    for (let at = Math.max(0, begin); at + size <= end; at += size) {
      found.set(JSON.stringify(pool.slice(at, at + size).map(String)), place);
      place += 1;
    }
    return found;
  });
}

function wordsOf(tokens: Literal): readonly string[] {
  if (tokens.dataType === "string") return stringsOf(tokens);
  return isBigIntType(tokens.dataType) ? Array.from(bigintsOf(tokens), String) : Array.from(numbersOf(tokens), String);
}
