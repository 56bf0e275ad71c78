/** Reads one line of text, or the fields of a page, with an encoder of pictures and a decoder of text: TrOCR (Li et al. 2021), Donut (Kim et al. 2021) and other models of the class VisionEncoderDecoderModel. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { InferyardError, quoteOption, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { captionTask } from "../../models/language-tasks.ts";
import type { Manifest } from "../../models/manifest.ts";
import { isJsonObject, type JsonObject } from "../../models/model-folder.ts";
import { processPictures } from "../../processors/images/process-pictures.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { withSamples } from "../vision/picture-samples.ts";
import { preparePictureGraph, readPictureSettings, runPictures } from "../vision/run-pictures.ts";
import { backgroundColour } from "../vision/vision-options.ts";
import type { ReadPageOptions } from "./read-options.ts";
import type { ReadPage } from "./read-page.ts";
import { type ReadFieldValue, readTokenFields } from "./token-fields.ts";
import { GraphDecoder, SequenceDecoder, type PictureTextDecoder } from "./token-decoders.ts";

/** Names of the files of an export, in order of preference: a decoder with both branches, and one without a cache. */
const decoderNames = ["decoder_model_merged", "decoder_model"];
const encoderName = "encoder_model";

/** Tokens of a line where neither the caller nor the model's files limit them. */
const defaultMaxTokens = 64;

/** Whether a model writes fields of a page, as Donut does: its encoder is of the type "donut-swin". */
export function readsFields({ variants }: Pick<Manifest, "variants">): boolean {
  const encoder = variants[0]?.config["encoder"];
  return isJsonObject(encoder) && encoder["model_type"] === "donut-swin";
}

/** Where a model that reads lines has its decoder: a file of an export, or the same file as the rest. */
export type LineDecoder = { readonly part: string } | "language";

/** The decoder of a model that reads lines; undefined for other models. */
export function findLineDecoder({ manifest, hasPart }: Pick<MediaModel, "hasPart" | "manifest">): LineDecoder | undefined {
  if (!manifest.tasks.includes(captionTask)) return undefined;
  if (manifest.variants.every(({ format }) => format !== "onnx")) return "language";
  const part = hasPart(encoderName) ? decoderNames.find((name) => hasPart(name)) : undefined;
  return part === undefined ? undefined : { part };
}

/**
 * Reads a picture as one line, whose box is the picture. The most probable token is taken at each step (greedy search). `score` is the mean probability of the
 * tokens. Throws MODEL_UNSUPPORTED for a model with other inputs and outputs.
 */
export async function readLine(
  model: MediaModel,
  lineDecoder: LineDecoder,
  picture: PictureSource,
  options: ReadPageOptions,
): Promise<ReadPage> {
  const { signal, maxNewTokens, minScore = 0, prompt } = options;
  const [tokenizer, config] = await Promise.all([model.tokenizer(), model.readJson("config.json")]);
  const isOfFields = readsFields(model.manifest);
  const limit = isOfFields ? getContextLength(config) : undefined;
  const rules = readRules({ ...config, ...model.manifest.generation }, maxNewTokens, limit);
  const first =
    prompt === undefined ? [rules.start] : [...tokenizer.encode(prompt, { addSpecialTokens: false, maxTokens: Infinity }).ids];
  if (first.length === 0)
    throw new InferyardError("INPUT_INVALID", "the prompt has no tokens", { remedy: `leave ${quoteOption("prompt")} out` });
  if (limit !== undefined && first.length >= limit)
    throw new InferyardError("INPUT_TOO_LONG", `the prompt has ${first.length} tokens, and the model's context is ${limit}`);
  const encode = lineDecoder === "language" ? encodeAsSequence : encodeWithGraph(lineDecoder.part);
  const { decoder, width, height } = await encode(model, picture, signal);
  try {
    const { ids, score } = await decodeGreedily(decoder, first, rules, signal);
    const text = tokenizer.decode(ids, { skipSpecialTokens: true });
    const fields = isOfFields ? await readWrittenFields(model, tokenizer, [...first, ...ids]) : undefined;
    const box = [[0, 0], [width, 0], [width, height], [0, height]] as const; // prettier-ignore
    return {
      lines: text.trim() === "" || score < minScore ? [] : [{ text, score, box }],
      ...omitUndefined({ fields }),
      width,
      height,
    };
  } finally {
    await decoder.end();
  }
}

/** A decoder at the beginning of the text of a picture, and the size of that picture in pixels. */
interface EncodedPicture {
  readonly decoder: PictureTextDecoder;
  readonly width: number;
  readonly height: number;
}

type Encode = (model: MediaModel, picture: PictureSource, signal: AbortSignal | undefined) => Promise<EncodedPicture>;

/** Encodes with the graphs of an export. */
function encodeWithGraph(decoderPart: string): Encode {
  return async (model, picture, signal) => {
    const [encoder, decoder] = await Promise.all([model.part(encoderName), model.part(decoderPart)]);
    const prepared = await preparePictureGraph(model, encoder);
    const encoded: Tensor[] = [];
    const size = { width: 0, height: 0 };
    await runPictures(prepared, [picture], omitUndefined({ signal }), ({ pictures, outputs }) => {
      const { last_hidden_state: hidden = Object.values(outputs)[0] } = outputs;
      if (hidden !== undefined) encoded.push(hidden);
      Object.assign(size, { width: at(pictures, 0).width, height: at(pictures, 0).height });
    });
    return { decoder: new GraphDecoder(decoder, at(encoded, 0)), ...size };
  };
}

/** Encodes with a model of one file, whose engine keeps the cache. */
const encodeAsSequence: Encode = async (model, picture, signal) => {
  const [language, settings] = await Promise.all([model.language(), readPictureSettings(model)]);
  throwIfAborted(signal);
  const { channels } = settings;
  const decoding = { channels, background: backgroundColour({}), budget: model.pictureBudget, signal };
  const { pixels, width, height } = await withSamples(picture, 0, decoding, (samples) => ({
    pixels: processPictures([samples], settings),
    width: samples.width,
    height: samples.height,
  }));
  return { decoder: await SequenceDecoder.create(language, pixels, signal), width, height };
};

/** Where a text begins and ends. */
interface DecodingRules {
  readonly start: number;
  readonly ends: ReadonlySet<number>;
  /** New tokens. */
  readonly maxTokens: number;
  /** Tokens with those that the text begins with. */
  readonly maxLength: number;
}

/** The fields in what a model wrote after its prompt, without the first tag, which names the task. */
async function readWrittenFields(model: MediaModel, tokenizer: Tokenizer, ids: readonly number[]): Promise<ReadFieldValue> {
  const { added_tokens: added } = (await model.readJson("tokenizer.json")) ?? {};
  const tokens = (Array.isArray(added) ? added : []).flatMap((each) =>
    isJsonObject(each) && typeof each["content"] === "string" ? [each["content"]] : [],
  );
  const { generation, variants } = model.manifest;
  const { pad_token_id: pad } = { ...variants[0]?.config, ...generation };
  const written = tokenizer.decode(
    ids.filter((id) => id !== pad),
    { skipSpecialTokens: false },
  );
  return readTokenFields(written.replace(/<.*?>/, "").trim(), new Set(tokens));
}

/** Tokens that the decoder of a config.json takes. */
function getContextLength(config: JsonObject | undefined): number | undefined {
  const decoder = config?.["decoder"];
  const length = isJsonObject(decoder) ? decoder["max_position_embeddings"] : undefined;
  return typeof length === "number" && length > 1 ? length : undefined;
}

/** Rules of generation_config.json and config.json, of which `maxNewTokens` replaces the limit. `contextLength`: the limit where they state none. */
function readRules(fields: JsonObject, maxNewTokens: number | undefined, contextLength: number | undefined): DecodingRules {
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
  const own =
    typeof maxNew === "number" ? maxNew : typeof maxLength === "number" ? maxLength - 1 : (contextLength ?? defaultMaxTokens);
  const ends = (Array.isArray(eos) ? eos : [eos]).filter((id): id is number => typeof id === "number");
  return { start: first, ends: new Set(ends), maxTokens: maxNewTokens ?? own, maxLength: contextLength ?? Infinity };
}

/** The tokens after the first ones, without the end, and their mean probability. */
async function decodeGreedily(
  decoder: PictureTextDecoder,
  first: readonly number[],
  { ends, maxTokens, maxLength }: DecodingRules,
  signal: AbortSignal | undefined,
): Promise<{ readonly ids: number[]; readonly score: number }> {
  const ids: number[] = [];
  let [next, sum, steps] = [first, 0, 0];
  while (steps < maxTokens && first.length + steps < maxLength) {
    throwIfAborted(signal);
    const { token, probability } = bestToken(await decoder.append(next, signal));
    sum += probability;
    steps++;
    if (ends.has(token)) break;
    ids.push(token);
    next = [token];
  }
  return { ids, score: steps === 0 ? 0 : sum / steps };
}

/** The most probable token, the first of equals. */
function bestToken(logits: Float32Array): { readonly token: number; readonly probability: number } {
  let token = 0;
  logits.forEach((value, index) => {
    if (value > at(logits, token)) token = index;
  });
  const total = logits.reduce((sum, value) => sum + Math.exp(value - at(logits, token)), 0);
  return { token, probability: 1 / total };
}
