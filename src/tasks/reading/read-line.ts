/** Reads one line of text with an encoder of pictures and a decoder of text: TrOCR (Li et al. 2021) and other exports of VisionEncoderDecoderModel. */
import { at } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { Tensor, TensorInfo, TensorMap } from "../../contract/tensor.ts";
import type { JsonObject } from "../../models/model-folder.ts";
import type { LoadedGraph, MediaModel } from "../definition/media-task.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "../vision/run-pictures.ts";
import type { ReadPageOptions } from "./read-options.ts";
import type { ReadPage } from "./read-page.ts";

/** Names of the files of an export, in order of preference: a decoder with both branches, and one without a cache. */
const decoderNames = ["decoder_model_merged", "decoder_model"];
const encoderName = "encoder_model";

/** Tokens of a line where neither the caller nor the model's files limit them. */
const defaultMaxTokens = 64;

/** The name of the decoder's file of a model that reads lines; undefined for other models. */
export function findLineDecoder(model: Pick<MediaModel, "hasPart" | "manifest">): string | undefined {
  const isLineReader = model.manifest.tasks.includes("image-to-text") && model.hasPart(encoderName);
  return isLineReader ? decoderNames.find((name) => model.hasPart(name)) : undefined;
}

/**
 * Reads a picture as one line, whose box is the picture. The most probable token is taken at each step (greedy search). `score` is the mean probability of the
 * tokens. Throws MODEL_UNSUPPORTED for a model with other inputs and outputs.
 */
export async function readLine(
  model: MediaModel,
  decoderPart: string,
  picture: PictureSource,
  options: ReadPageOptions,
): Promise<ReadPage> {
  const { signal, maxNewTokens, minScore = 0 } = options;
  const [encoder, decoder, tokenizer, config] = await Promise.all([
    model.part(encoderName),
    model.part(decoderPart),
    model.tokenizer(),
    model.readJson("config.json"),
  ]);
  const prepared = await preparePictureGraph(model, encoder);
  const encoded: Tensor[] = [];
  const size = { width: 0, height: 0 };
  await runPictures(prepared, [picture], signal === undefined ? {} : { signal }, ({ pictures, outputs }) => {
    const { last_hidden_state: hidden = Object.values(outputs)[0] } = outputs;
    if (hidden !== undefined) encoded.push(hidden);
    Object.assign(size, { width: at(pictures, 0).width, height: at(pictures, 0).height });
  });
  const rules = readRules({ ...config, ...model.manifest.generation }, maxNewTokens);
  const { ids, score } = await decodeGreedily(decoder, at(encoded, 0), rules, signal);
  const text = tokenizer.decode(ids, { skipSpecialTokens: true });
  const { width, height } = size;
  const box = [[0, 0], [width, 0], [width, height], [0, height]] as const; // prettier-ignore
  return { lines: text.trim() === "" || score < minScore ? [] : [{ text, score, box }], width, height };
}

/** Where a text begins and ends. */
interface DecodingRules {
  readonly start: number;
  readonly ends: ReadonlySet<number>;
  readonly maxTokens: number;
}

/** Rules of generation_config.json and config.json, of which `maxNewTokens` replaces the limit. */
function readRules(fields: JsonObject, maxNewTokens: number | undefined): DecodingRules {
  const {
    decoder_start_token_id: start,
    bos_token_id: bos,
    eos_token_id: eos,
    max_new_tokens: maxNew,
    max_length: maxLength,
  } = fields;
  const first = [start, bos].find((id) => typeof id === "number");
  if (typeof first !== "number")
    throw new InferyardError("MODEL_INVALID", "the model's files do not name the token that a text begins with", {
      remedy: "state decoder_start_token_id in its generation_config.json",
    });
  const own = typeof maxNew === "number" ? maxNew : typeof maxLength === "number" ? maxLength - 1 : defaultMaxTokens;
  const ends = (Array.isArray(eos) ? eos : [eos]).filter((id): id is number => typeof id === "number");
  return { start: first, ends: new Set(ends), maxTokens: maxNewTokens ?? own };
}

/** The tokens after the first one, without the end, and their mean probability. */
async function decodeGreedily(
  decoder: LoadedGraph,
  hidden: Tensor,
  { start, ends, maxTokens }: DecodingRules,
  signal: AbortSignal | undefined,
): Promise<{ readonly ids: number[]; readonly score: number }> {
  const cache = new DecoderCache(decoder, hidden);
  const ids: number[] = [];
  let [token, sum, steps] = [start, 0, 0];
  while (steps < maxTokens) {
    throwIfAborted(signal);
    const given = cache.isKept ? [token] : [start, ...ids];
    const outputs = await decoder.run(cache.inputs(given), signal === undefined ? {} : { signal });
    const { logits } = outputs;
    if (logits === undefined)
      throw new InferyardError("MODEL_UNSUPPORTED", "the decoder has no output logits", {
        remedy: `its outputs are ${decoder.outputs.map(({ name }) => name).join(", ")}`,
      });
    cache.keep(outputs);
    const best = bestToken(logits);
    token = best.token;
    sum += best.probability;
    steps++;
    if (ends.has(token)) break;
    ids.push(token);
  }
  return { ids, score: steps === 0 ? 0 : sum / steps };
}

/** The most probable token of the last position of `[1, positions, vocabulary]`, the first of equals. */
function bestToken(logits: Tensor): { readonly token: number; readonly probability: number } {
  const size = logits.shape.at(-1) ?? 0;
  const row = toFloat32(logits).subarray(-size);
  let token = 0;
  row.forEach((value, index) => {
    if (value > at(row, token)) token = index;
  });
  const total = row.reduce((sum, value) => sum + Math.exp(value - at(row, token)), 0);
  return { token, probability: 1 / total };
}

const pastName = /^past_key_values\./;

/** The keys and values of earlier tokens, for decoders that take them. The encoder's are computed once. */
class DecoderCache {
  readonly #inputs: readonly TensorInfo[];
  readonly #hidden: Tensor;
  #past: TensorMap | undefined;

  constructor({ inputs }: LoadedGraph, hidden: Tensor) {
    this.#inputs = inputs;
    this.#hidden = hidden;
  }

  /** Whether the next run takes the last token alone. */
  get isKept(): boolean {
    return this.#past !== undefined;
  }

  /** All inputs of a run on tokens. Throws MODEL_UNSUPPORTED for an input that this loop does not know. */
  inputs(tokens: readonly number[]): TensorMap {
    return Object.fromEntries(this.#inputs.map((info) => [info.name, this.#past?.[info.name] ?? this.#input(info, tokens)]));
  }

  /** Takes the keys and values of a run. A decoder with a cache leaves the encoder's out where it has them. */
  keep(outputs: TensorMap): void {
    const past = Object.entries(outputs).flatMap(([name, tensor]) => {
      const input = name.replace(/^present\./, "past_key_values.");
      const isKept = this.#past !== undefined && /\.encoder\./.test(name);
      return this.#inputs.some((info) => info.name === input && pastName.test(input)) && !isKept
        ? [[input, tensor] as const]
        : [];
    });
    if (past.length > 0) this.#past = { ...this.#past, ...Object.fromEntries(past) };
  }

  #input({ name, dataType, shape }: TensorInfo, tokens: readonly number[]): Tensor {
    if (name === "input_ids") return { dataType: "int64", shape: [1, tokens.length], data: BigInt64Array.from(tokens, BigInt) };
    if (name === "encoder_hidden_states") return this.#hidden;
    if (name === "use_cache_branch") return { dataType: "bool", shape: [1], data: Uint8Array.of(this.isKept ? 1 : 0) };
    if (name === "encoder_attention_mask") {
      const length = this.#hidden.shape[1] ?? 0;
      return { dataType: "int64", shape: [1, length], data: new BigInt64Array(length).fill(1n) };
    }
    const [, heads, , headSize] = shape;
    if (pastName.test(name) && dataType === "float32" && typeof heads === "number" && typeof headSize === "number")
      return { dataType, shape: [1, heads, 0, headSize], data: new Float32Array(0) };
    throw new InferyardError("MODEL_UNSUPPORTED", `the decoder has an input ${name}, which reading lines does not give`, {
      remedy: "export the model with optimum: optimum-cli export onnx --task image-to-text-with-past",
    });
  }
}
