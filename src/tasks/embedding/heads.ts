/**
 * The heads of BGE-M3 (Chen et al. 2024): a dense vector, weights of the text's tokens, and a vector per token, from one run of the encoder. They are outputs of
 * the graph, or linear layers of the folder (`TextSettings.heads`) on the token vectors. Equal to FlagEmbedding's `M3Embedder`.
 */
import { at, omitUndefined } from "../../contract/checked.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { type Encoder, type EncoderRow, runEncodings } from "../batching/run-encodings.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { type HeadOutputs, headOutputs, vectorOutput } from "../encoding/encoder-outputs.ts";
import { type ReadCounts, readCounts } from "../encoding/read-counts.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import type { TextTaskOptions } from "../definition/generated-task-options.ts";
import { promptText } from "./prompts.ts";
import { joinRows } from "../encoding/pooling.ts";
import type { EmbeddingForm } from "./output-options.ts";
import { loadModules, getPostPooling } from "./pool-encodings.ts";
import { normalizeRows, poolingFunctions } from "../encoding/pooling.ts";

/** Results of the heads for each text, and the number of tokens read of it. A form that was not requested is absent. */
export interface HeadEmbeddings extends ReadCounts {
  /** One vector per text, of length 1. */
  readonly dense?: readonly Float32Array[];
  /** The weight of each token id of a text, above 0; special tokens and unknown ones have none. */
  readonly sparse?: readonly ReadonlyMap<number, number>[];
  /** Vectors of length 1 for all tokens of a text but the first, `[tokens - 1, dimensions]`, row-major. */
  readonly multiVector?: readonly Float32Array[];
  readonly dimensions: { readonly dense?: number; readonly sparse?: number; readonly multiVector?: number };
}

/** The forms that the heads of a model give; empty for a model without heads. */
export function headForms({ outputs, manifest }: Pick<Encoder, "outputs" | "manifest">): readonly EmbeddingForm[] {
  const named = headOutputs(outputs);
  const heads = manifest.text?.heads;
  if (named === undefined && heads === undefined) return [];
  const { dense, sparse, multiVector } = named ?? {
    dense: true,
    sparse: heads?.sparse[0],
    multiVector: heads?.multiVector[0],
  };
  return [
    ...(dense === undefined ? [] : (["dense"] as const)),
    ...(sparse === undefined ? [] : (["sparse"] as const)),
    ...(multiVector === undefined ? [] : (["multi-vector"] as const)),
  ];
}

/** Whether a model has BGE-M3's head for vectors of tokens. */
export function hasMultiVectorHead(encoder: Pick<Encoder, "outputs" | "manifest">): boolean {
  return headForms(encoder).includes("multi-vector");
}

/** Whether a model has BGE-M3's head for weights of tokens, or the folder of a model with it whose file is missing or not read. */
export function hasSparseHead(encoder: Pick<Encoder, "outputs" | "manifest">): boolean {
  return headForms(encoder).includes("sparse") || encoder.manifest.text?.heads !== undefined;
}

/**
 * Embeds texts in several forms with one run of the encoder per batch. Throws MODEL_UNSUPPORTED for a form that the model has no head for, and names the
 * file if the folder has it in a format that is not read.
 */
export async function embedWithHeads(
  encoder: Encoder,
  texts: readonly string[],
  forms: readonly EmbeddingForm[],
  options: TextTaskOptions & { readonly prompt?: string },
): Promise<HeadEmbeddings> {
  refuseMissing(encoder, forms);
  const { manifest, tokenizer } = encoder;
  const settings = textTaskSettings(manifest, options);
  const text = manifest.text as TextSettings; // `textTaskSettings` refuses a model without
  const prompt = promptText(manifest.name, text, options.prompt);
  const encodings = await encodeTexts(tokenizer, texts, { ...settings, prompt }, options.signal);
  const read = await getReader(encoder, text, forms);
  const unused = unusedTokens(encoder, text);
  const dense: Float32Array[] = [];
  const sparse: Map<number, number>[] = [];
  const multiVector: Float32Array[] = [];
  let dimensions: { dense?: number; multiVector?: number } = {};
  const run = { ...read.outputs, batchTokens: settings.batchTokens, signal: options.signal };
  await runEncodings(encoder, encodings, run, (row) => {
    const { index, encoding } = row;
    const found = read.row(row);
    for (const values of [found.dense, found.weights, ...(found.vectors ?? [])])
      if (values !== undefined) requireFinite(values, index);
    if (found.dense !== undefined) dense[index] = normalizeRows(found.dense);
    if (found.weights !== undefined) sparse[index] = lexicalWeights(encoding.ids, found.weights, unused);
    if (found.vectors !== undefined) multiVector[index] = joinRows(found.vectors.map(normalizeRows));
    dimensions = { ...dimensions, ...omitUndefined({ dense: found.dense?.length, multiVector: found.vectors?.[0]?.length }) };
  });
  const has = (form: EmbeddingForm): boolean => forms.includes(form);
  return {
    ...(has("dense") ? { dense } : {}),
    ...(has("sparse") ? { sparse } : {}),
    ...(has("multi-vector") ? { multiVector } : {}),
    dimensions: { ...dimensions, ...(has("sparse") ? { sparse: tokenizer.vocabularySize } : {}) },
    ...readCounts(encodings),
  };
}

/** The values of one text, before normalization. */
interface HeadValues {
  readonly dense?: Float32Array;
  /** One weight per token. */
  readonly weights?: Float32Array;
  /** The vectors of all tokens but the first. */
  readonly vectors?: readonly Float32Array[];
}

interface HeadReader {
  /** The outputs of the graph that are needed. */
  readonly outputs: { readonly output: string; readonly others: readonly string[] };
  row(row: EncoderRow<TokenIds>): HeadValues;
}

async function getReader(encoder: Encoder, text: TextSettings, forms: readonly EmbeddingForm[]): Promise<HeadReader> {
  const named = headOutputs(encoder.outputs);
  return named === undefined ? await layerReader(encoder, text, forms) : graphReader(named, forms);
}

/** Reads heads that are outputs of the graph. */
function graphReader({ dense, sparse, multiVector }: HeadOutputs, forms: readonly EmbeddingForm[]): HeadReader {
  const wanted = {
    dense: forms.includes("dense") ? dense : undefined,
    sparse: forms.includes("sparse") ? sparse : undefined,
    multiVector: forms.includes("multi-vector") ? multiVector : undefined,
  };
  const [output = "", ...others] = Object.values(wanted).filter((name) => name !== undefined);
  return {
    outputs: { output, others },
    row({ encoding, other }) {
      const count = encoding.ids.length;
      const values = (name: string | undefined, size: (shape: readonly number[]) => number): Float32Array | undefined => {
        if (name === undefined) return undefined;
        const { data, offset, shape } = other(name);
        return data.slice(offset, offset + size(shape));
      };
      const found = {
        dense: values(wanted.dense, ([size = 0]) => size),
        weights: values(wanted.sparse, () => count),
        vectors: wanted.multiVector === undefined ? undefined : tokenRows(other(wanted.multiVector), count),
      };
      return omitUndefined(found);
    },
  };
}

/** The vectors of all tokens but the first, from a graph that returns the vectors of all tokens, or itself leaves out the first. */
function tokenRows(
  { data, offset, shape, paddedTokens }: ReturnType<EncoderRow<TokenIds>["other"]>,
  count: number,
): Float32Array[] {
  const [rows = 0, size = 0] = shape;
  const first = rows === paddedTokens ? 1 : 0;
  if (rows + 1 - first !== paddedTokens) {
    throw unsupportedModel(
      `the graph returns ${rows} token vectors for ${paddedTokens} tokens; it must return one for each, or for each but the first`,
    );
  }
  return Array.from({ length: Math.max(0, count - 1) }, (_row, index) => {
    const start = offset + (index + first) * size;
    return data.slice(start, start + size);
  });
}

/** Computes heads that are linear layers of the folder, on the token vectors. */
async function layerReader(encoder: Encoder, text: TextSettings, forms: readonly EmbeddingForm[]): Promise<HeadReader> {
  const { name } = vectorOutput(encoder, "none");
  const { sparse = [], multiVector = [] } = text.heads ?? {};
  const weigh = forms.includes("sparse") ? await loadModules(encoder, sparse) : undefined;
  const project = forms.includes("multi-vector") ? await loadModules(encoder, multiVector) : undefined;
  const modules = forms.includes("dense") ? await getPostPooling(encoder) : undefined;
  const { pooling = "cls", poolPrompt } = text; // FlagEmbedding's own default
  return {
    outputs: { output: name, others: [] },
    row({ encoding, data, offset, shape }) {
      const dimensions = shape.at(-1) ?? 0;
      const count = encoding.ids.length;
      const tokens = Array.from({ length: count }, (_token, index) =>
        data.subarray(offset + index * dimensions, offset + (index + 1) * dimensions),
      );
      const rows = { data, offset, dimensions, first: poolPrompt ? 0 : encoding.promptTokens, end: count };
      const pooled = forms.includes("dense") && pooling !== "none" ? poolingFunctions[pooling](rows) : undefined;
      return omitUndefined({
        dense: pooled === undefined ? undefined : (modules?.apply(pooled) ?? pooled),
        weights: weigh === undefined ? undefined : joinRows(tokens.map((token) => weigh.apply(token))),
        vectors: project === undefined ? undefined : tokens.slice(1).map((token) => project.apply(token)),
      });
    },
  };
}

/** Tokens that FlagEmbedding gives no weight: `cls_token`, `eos_token`, `pad_token` and `unk_token` of tokenizer_config.json. */
function unusedTokens({ tokenizer }: Encoder, { tokenizerConfig }: TextSettings): ReadonlySet<number> {
  const ids = ["cls_token", "eos_token", "pad_token", "unk_token"].map((key) => {
    const stated = tokenizerConfig[key];
    const token = typeof stated === "object" && stated !== null && "content" in stated ? stated.content : stated;
    return typeof token === "string" ? tokenizer.tokenToId(token) : undefined;
  });
  return new Set(ids.filter((id) => id !== undefined));
}

/** The largest weight of each token id of a text. */
function lexicalWeights(ids: readonly number[], weights: Float32Array, unused: ReadonlySet<number>): Map<number, number> {
  const found = new Map<number, number>();
  for (const [index, id] of ids.entries()) {
    const weight = at(weights, index);
    if (!unused.has(id) && weight > (found.get(id) ?? 0)) found.set(id, weight);
  }
  return found;
}

/** Names of the files of the heads, without their ending. */
const files: Readonly<Record<Exclude<EmbeddingForm, "dense">, string>> = {
  sparse: "sparse_linear",
  "multi-vector": "colbert_linear",
};

function refuseMissing(encoder: Encoder, forms: readonly EmbeddingForm[]): void {
  const has = headForms(encoder);
  const missing = forms.find((form) => !has.includes(form));
  if (missing === undefined) return;
  const { name, text } = encoder.manifest;
  if (text?.heads === undefined || missing === "dense") {
    throw unsupportedModel(
      `${name} has no ${missing} head; it has ${has.join(" and ")}`,
      "use an export with all three, or ask for the forms that it has",
    );
  }
  const file = `${text.heads.displayName}/${files[missing]}`;
  const convert = `torch.load("${files[missing]}.pt", weights_only=True)`;
  throw unsupportedModel(
    `the ${missing} head of ${name} is read from ${file}.safetensors, which is not there; .pt files are not read`,
    `write it in Python: safetensors.torch.save_file(${convert}, "${files[missing]}.safetensors")`,
  );
}
