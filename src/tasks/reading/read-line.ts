/** Reads one line of text with an encoder of pictures and a decoder of text: TrOCR (Li et al. 2021) and other models of the class VisionEncoderDecoderModel. */
import { at, omitUndefined } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import { captionTask } from "../../models/language-tasks.ts";
import type { JsonObject } from "../../models/model-folder.ts";
import { processPictures } from "../../processors/images/process-pictures.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { withSamples } from "../vision/picture-samples.ts";
import { preparePictureGraph, readPictureSettings, runPictures } from "../vision/run-pictures.ts";
import { backgroundColour } from "../vision/vision-options.ts";
import type { ReadPageOptions } from "./read-options.ts";
import type { ReadPage } from "./read-page.ts";
import { GraphDecoder, SequenceDecoder, type PictureTextDecoder } from "./token-decoders.ts";

/** Names of the files of an export, in order of preference: a decoder with both branches, and one without a cache. */
const decoderNames = ["decoder_model_merged", "decoder_model"];
const encoderName = "encoder_model";

/** Tokens of a line where neither the caller nor the model's files limit them. */
const defaultMaxTokens = 64;

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
  const { signal, maxNewTokens, minScore = 0 } = options;
  const [tokenizer, config] = await Promise.all([model.tokenizer(), model.readJson("config.json")]);
  const rules = readRules({ ...config, ...model.manifest.generation }, maxNewTokens);
  const encode = lineDecoder === "language" ? encodeAsSequence : encodeWithGraph(lineDecoder.part);
  const { decoder, width, height } = await encode(model, picture, signal);
  try {
    const { ids, score } = await decodeGreedily(decoder, rules, signal);
    const text = tokenizer.decode(ids, { skipSpecialTokens: true });
    const box = [[0, 0], [width, 0], [width, height], [0, height]] as const; // prettier-ignore
    return { lines: text.trim() === "" || score < minScore ? [] : [{ text, score, box }], width, height };
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
  decoder: PictureTextDecoder,
  { start, ends, maxTokens }: DecodingRules,
  signal: AbortSignal | undefined,
): Promise<{ readonly ids: number[]; readonly score: number }> {
  const ids: number[] = [];
  let [token, sum, steps] = [start, 0, 0];
  while (steps < maxTokens) {
    throwIfAborted(signal);
    const best = bestToken(await decoder.append([token], signal));
    token = best.token;
    sum += best.probability;
    steps++;
    if (ends.has(token)) break;
    ids.push(token);
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
