/** Operators on strings. The interpreter computes them, or they are computed while the model is traced. */
import { broadcastShape } from "../../../ir/broadcast.ts";
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, type Literal, toStrings } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX StringNormalizer of [C] or [1, C]: removes stop words and changes case. The input must be constant; an empty result becomes one empty string. */
function normalize(call: OperatorCall): Value {
  const { shape, ...texts } = call.knownData(0);
  if (shape.length > 2 || (shape.length === 2 && shape[0] !== 1))
    throw new Error(`the input shape [${shape.join(", ")}] is neither [C] nor [1, C]`);
  const action = call.string("case_change_action", "NONE");
  if (action !== "NONE" && action !== "LOWER" && action !== "UPPER") throw new Error(`case_change_action "${action}" is unknown`);
  const [locale] = call.string("locale", "").replace("_", "-").split(".");
  const tag = locale === "" || locale === "C" ? undefined : locale;
  const lower = (text: string): string => (tag === undefined ? text.toLowerCase() : text.toLocaleLowerCase(tag));
  const upper = (text: string): string => (tag === undefined ? text.toUpperCase() : text.toLocaleUpperCase(tag));
  const sensitive = call.int("is_case_sensitive", 0) === 1;
  const seen = (text: string): string => (sensitive ? text : lower(text));
  const stops = new Set((call.strings("stopwords") ?? []).map(seen));
  const kept = toStrings({ ...texts, shape }).filter((text) => !stops.has(seen(text)));
  const data = kept.map((text) => (action === "NONE" ? text : action === "LOWER" ? lower(text) : upper(text)));
  if (data.length === 0) data.push("");
  return call.builder.constant({ dataType: "string", shape: shape.length === 2 ? [1, data.length] : [data.length], data });
}

/** ONNX StringConcat, opset 20. */
function concat(call: OperatorCall): Value {
  const shape = broadcastShape(call.tensor(0).type.shape, call.tensor(1).type.shape);
  const types = [{ dataType: "string", shape }] as const;
  return call.add({ kind: "call", function: "concatenate-strings", attributes: {}, types }, call.tensor(0), call.tensor(1));
}

/** ONNX RegexFullMatch, opset 20, with RE2 syntax. */
function fullMatch(call: OperatorCall): Value {
  const texts = call.tensor(0);
  const attributes = { pattern: call.string("pattern", "") };
  const types = [{ dataType: "bool", shape: texts.type.shape }] as const;
  return call.add({ kind: "call", function: "regex-full-match", attributes, types }, texts);
}

/** Whitespace as of Python's str.split(). */
const whiteSpace = /[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/; // oxlint-disable-line no-control-regex -- Unicode whitespace includes control characters

/** Splits as Python's str.split(delimiter, maxSplit); an empty delimiter means runs of whitespace. */
function splitText(text: string, delimiter: string, maxSplit: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  if (delimiter === "") {
    for (;;) {
      rest = rest.slice(getFirst(rest, false));
      if (rest === "") return parts;
      if (parts.length === maxSplit) return [...parts, rest];
      const end = getFirst(rest, true);
      parts.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }
  while (parts.length !== maxSplit) {
    const at = rest.indexOf(delimiter);
    if (at < 0) break;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + delimiter.length);
  }
  return [...parts, rest];
}

/** Index of the first character that is whitespace, or that is not; the length if there is none. */
function getFirst(text: string, white: boolean): number {
  let at = 0;
  while (at < text.length && whiteSpace.test(text[at] ?? "") !== white) at += 1;
  return at;
}

/** ONNX StringSplit, opset 20. Outputs: the parts along a new last axis, padded with empty strings, and their number for each string. */
function split(call: OperatorCall): readonly Value[] {
  const { shape, ...texts }: Literal = call.knownData(0);
  const delimiter = call.string("delimiter", "");
  const maxSplit = call.int("maxsplit", -1);
  const parts = toStrings({ ...texts, shape }).map((text) => splitText(text, delimiter, maxSplit));
  const width = parts.reduce((widest, { length }) => Math.max(widest, length), 0);
  call.builder.reserve({ dataType: "string", shape: [...shape, width] });
  const data = parts.flatMap((own) => [...own, ...Array.from({ length: width - own.length }, () => "")]);
  return [
    call.builder.constant({ dataType: "string", shape: [...shape, width], data }),
    call.builder.constant(
      int64Literal(
        parts.map(({ length }) => length),
        shape,
      ),
    ),
  ];
}

/** ONNX TfIdfVectorizer of [C] or [N, C]: weighted counts of the n-grams of a pool. */
function tfIdf(call: OperatorCall): Value {
  const tokens = call.tensor(0);
  const { shape } = tokens.type;
  const mode = call.string("mode", "TF");
  if (mode !== "TF" && mode !== "IDF" && mode !== "TFIDF") throw new Error(`mode "${mode}" is unknown`);
  const indexes = call.ints("ngram_indexes") ?? [];
  if (indexes.length === 0 || indexes.some((index) => !(index >= 0 && index < 2 ** 28)))
    throw new Error("ngram_indexes is empty or out of range");
  const attributes = {
    mode,
    indexes,
    counts: call.ints("ngram_counts") ?? [],
    pool: call.strings("pool_strings") ?? call.ints("pool_int64s") ?? [],
    weights: call.floats("weights") ?? [],
    minGramLength: call.int("min_gram_length", 1),
    maxGramLength: call.int("max_gram_length", 1),
    maxSkipCount: call.int("max_skip_count", 0),
  };
  const { minGramLength, maxGramLength, maxSkipCount } = attributes;
  if (!(minGramLength >= 1 && maxGramLength >= minGramLength && maxSkipCount >= 0))
    throw new Error(
      `min_gram_length ${minGramLength}, max_gram_length ${maxGramLength} and max_skip_count ${maxSkipCount} are inconsistent`,
    );
  if (shape.length === 0 || shape.length > 2) throw new Error(`the input shape [${shape.join(", ")}] is neither [C] nor [N, C]`);
  const columns = indexes.reduce((largest, index) => Math.max(largest, index), 0) + 1;
  const types = [{ dataType: "float32", shape: [...shape.slice(0, -1), columns] }] as const;
  return call.add({ kind: "call", function: "tf-idf", attributes, types }, tokens);
}

/** Translates string operators of ai.onnx, such as StringNormalizer and TfIdfVectorizer, which the interpreter computes. */
export const textOperators: OperatorFamily = {
  StringNormalizer: since(10, normalize),
  StringConcat: since(20, concat),
  StringSplit: since(20, split),
  RegexFullMatch: since(20, fullMatch),
  TfIdfVectorizer: since(9, tfIdf),
};
