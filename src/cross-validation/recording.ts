/**
 * Recordings of logits: safetensors files with the tensors `tokens` (int32, [positions]), `logits` (float32, [positions, vocabulary]) and, for models with an
 * encoder, `source` (int32). The metadata says which model and tokenizer they are of; docs/guide/cross-validation.md lists its fields.
 */
import { type InferyardError, invalidInput } from "../contract/errors.ts";
import { readSafetensorsHeader, readSafetensorsTensor, type SafetensorsHeader } from "../formats/safetensors/read-safetensors.ts";
import { writeSafetensors } from "../formats/safetensors/write-safetensors.ts";
import type { Tensor } from "../contract/tensor.ts";
import { version } from "../version.ts";
import { requireFiniteLogits } from "./compare-logits.ts";
import type { ComparedRun } from "./cross-validation.ts";
import type { PromptTokens, TokensPerSecond } from "./language-run.ts";

/** The logits of one run. */
export interface LogitsRun {
  readonly facts: ComparedRun;
  readonly speed: TokensPerSecond;
  readonly prompt: PromptTokens;
  /** All tokens that were read: the prompt's, then the generated ones. */
  readonly tokens: readonly number[];
  /** Logits for the position after each token. */
  readonly logits: readonly Float32Array[];
  /** Source of the tokens after the prompt: the model's own choice, or the caller. */
  readonly chosenBy: "reference" | "caller";
  /** SHA-256 of the tokens of the vocabulary in order, in hexadecimal; "none" for a model without a tokenizer. */
  readonly tokenizerDigest: string;
}

const format = "inferyard-logits";
const formatVersion = "1";

/** Writes a recording. Throws OUTPUT_FAILED. */
export async function writeRecording(path: string, run: LogitsRun): Promise<void> {
  const { facts, speed, prompt, tokens, logits, chosenBy, tokenizerDigest } = run;
  const vocabulary = logits[0]?.length ?? 0;
  const data = new Float32Array(logits.length * vocabulary);
  for (const [index, row] of logits.entries()) data.set(row, index * vocabulary);
  const ids = (list: readonly number[]): Tensor => ({ dataType: "int32", shape: [list.length], data: Int32Array.from(list) });
  const metadata = {
    format,
    format_version: formatVersion,
    model: facts.model,
    variant: facts.variant ?? "",
    model_digest: facts.digest,
    tokenizer_digest: tokenizerDigest,
    prompt_tokens: String(prompt.tokens.length),
    chosen_by: chosenBy,
    target: facts.target,
    library: facts.library.name,
    library_version: facts.library.version,
    prefill_tokens_per_second: String(speed.prefill ?? ""),
    decode_tokens_per_second: String(speed.decode ?? ""),
    inferyard_version: version,
    at: new Date().toISOString(),
  };
  const tensors = {
    tokens: ids(tokens),
    logits: { dataType: "float32", shape: [logits.length, vocabulary], data } as const,
    ...(prompt.source === undefined ? {} : { source: ids(prompt.source) }),
  };
  await writeSafetensors(path, tensors, metadata);
}

/**
 * Reads a recording. Throws INPUT_INVALID for a file that is not a recording or has another version, VERIFICATION_FAILED for logits that are not finite, and
 * any error of reading a safetensors file.
 */
export async function readRecording(path: string, signal?: AbortSignal): Promise<LogitsRun> {
  const header = await readSafetensorsHeader(path, signal);
  const { metadata } = header;
  if (metadata.get("format") !== format) throw noRecording(path, `its metadata has no format "${format}"`);
  const found = metadata.get("format_version");
  if (found !== formatVersion) {
    throw invalidInput(
      `${path} is a recording of version ${found ?? "?"}, and this program reads ${formatVersion}`,
      "record it again with this version: inferyard crossval --record",
    );
  }
  const text = (name: string): string => {
    const value = metadata.get(name);
    if (value === undefined) throw noRecording(path, `its metadata has no ${name}`);
    return value;
  };
  const tokens = [...(await readIds(header, "tokens", signal))];
  const logits = await readLogits(header, tokens.length, signal);
  const promptTokens = Number(text("prompt_tokens"));
  if (!Number.isSafeInteger(promptTokens) || promptTokens < 1 || promptTokens > tokens.length)
    throw noRecording(path, `prompt_tokens is ${text("prompt_tokens")}, and it has ${tokens.length} tokens`);
  const chosenBy = text("chosen_by");
  if (chosenBy !== "reference" && chosenBy !== "caller") throw noRecording(path, `chosen_by is "${chosenBy}"`);
  const source = header.tensors.has("source") ? { source: [...(await readIds(header, "source", signal))] } : {};
  const variant = text("variant");
  return {
    facts: {
      model: text("model"),
      ...(variant === "" ? {} : { variant }),
      digest: text("model_digest"),
      target: text("target"),
      library: { name: text("library"), version: text("library_version") },
      recording: path,
    },
    speed: { prefill: getRate(text("prefill_tokens_per_second")), decode: getRate(text("decode_tokens_per_second")) },
    prompt: { tokens: tokens.slice(0, promptTokens), ...source },
    tokens,
    logits,
    chosenBy,
    tokenizerDigest: text("tokenizer_digest"),
  };
}

async function readIds({ path, ...header }: SafetensorsHeader, name: string, signal?: AbortSignal): Promise<Int32Array> {
  const { data, shape } = await readSafetensorsTensor({ path, ...header }, name, signal);
  if (data instanceof Int32Array && shape.length === 1 && data.length > 0 && data.every((id) => id >= 0)) return data;
  throw noRecording(path, `its tensor "${name}" is not a list of token ids`);
}

async function readLogits(header: SafetensorsHeader, positions: number, signal?: AbortSignal): Promise<Float32Array[]> {
  const { data, shape } = await readSafetensorsTensor(header, "logits", signal);
  const [rows, vocabulary = 0] = shape;
  if (!(data instanceof Float32Array) || shape.length !== 2 || rows !== positions || vocabulary === 0) {
    throw noRecording(header.path, `its tensor "logits" has the shape [${shape.join(", ")}], and there are ${positions} tokens`);
  }
  return Array.from({ length: positions }, (_row, index) => {
    const row = data.subarray(index * vocabulary, (index + 1) * vocabulary);
    requireFiniteLogits(row, index, header.path);
    return row;
  });
}

function getRate(text: string): number | null {
  const value = Number(text);
  return text === "" || !Number.isFinite(value) || value < 0 ? null : value;
}

function noRecording(path: string, reason: string): InferyardError {
  return invalidInput(
    `${path} is not a recording of logits: ${reason}`,
    "write one with: inferyard crossval --model MODEL --record FILE",
  );
}
