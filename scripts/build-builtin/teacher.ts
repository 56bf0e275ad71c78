/** all-MiniLM-L6-v2 on onnxruntime-node, without the rest of Inferyard: what is shipped should not depend on what it tests. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { throwIfAborted } from "../../src/contract/errors.ts";
import type { Teacher, TeacherCallOptions } from "../../src/distillation/teacher.ts";

/** sentence_bert_config.json's limit, [CLS] and [SEP] included. */
const maxTokens = 256;
const dimensions = 384;
/** Padded tokens in one run. */
const tokensPerRun = 768;

export async function minilm(folder: string): Promise<Teacher> {
  const tokenizerPath = join(folder, "tokenizer.json");
  const json = JSON.parse(await readFile(tokenizerPath, "utf8")) as { model: { vocab: Record<string, number> } };
  const tokenizer = new Tokenizer({ ...json, truncation: null, padding: null }, {});
  const vocabulary: string[] = [];
  for (const [token, id] of Object.entries(json.model.vocab)) vocabulary[id] = token;
  const [start, end, unknown] = ["[CLS]", "[SEP]", "[UNK]"].map((token) => json.model.vocab[token] ?? 0);
  const session = await InferenceSession.create(join(folder, "onnx", "model.onnx"));
  const tokenize = (text: string): number[] => tokenizer.encode(text, { add_special_tokens: false }).ids;
  const embed = async (batch: readonly (readonly number[])[], options: TeacherCallOptions): Promise<Float32Array[]> =>
    await embedFramed(
      session,
      batch.map((ids) => [start ?? 0, ...ids.slice(0, maxTokens - 2), end ?? 0]),
      options,
    );
  return {
    reference: "sentence-transformers/all-MiniLM-L6-v2",
    vocabulary,
    unknownTokenId: unknown ?? 0,
    dimensions,
    tokenizerPath,
    tokenize,
    embedTokenIds: embed,
    embedTexts: async (texts, options) => await embed(texts.map(tokenize), options),
  };
}

/** Mean of the token vectors of each sequence; sequences of like length run together. */
async function embedFramed(
  session: InferenceSession,
  sequences: number[][],
  options: TeacherCallOptions,
): Promise<Float32Array[]> {
  const order = [...sequences.keys()].sort((a, b) => lengthAt(sequences, a) - lengthAt(sequences, b) || a - b);
  const vectors: Float32Array[] = Array.from({ length: sequences.length }, () => new Float32Array(dimensions));
  for (let done = 0; done < order.length;) {
    throwIfAborted(options.signal);
    let count = 1;
    while (done + count < order.length && (count + 1) * lengthAt(sequences, order[done + count] ?? 0) <= tokensPerRun) count++;
    const batch = order.slice(done, done + count);
    const width = lengthAt(sequences, batch.at(-1) ?? 0);
    const ids = new BigInt64Array(count * width);
    const mask = new BigInt64Array(count * width);
    for (const [row, index] of batch.entries()) {
      for (const [column, id] of (sequences[index] ?? []).entries()) {
        ids[row * width + column] = BigInt(id);
        mask[row * width + column] = 1n;
      }
    }
    const tensor = (data: BigInt64Array): Tensor => new Tensor("int64", data, [count, width]);
    const output = await session.run({
      input_ids: tensor(ids),
      attention_mask: tensor(mask),
      token_type_ids: tensor(new BigInt64Array(count * width)),
    });
    const hidden = output["last_hidden_state"]?.data as Float32Array;
    for (const [row, index] of batch.entries()) addMean(vectors[index], hidden, row * width, lengthAt(sequences, index));
    done += count;
    options.onProgress?.(done, order.length);
  }
  return vectors;
}

function addMean(vector: Float32Array | undefined, hidden: Float32Array, firstToken: number, length: number): void {
  for (let token = firstToken; token < firstToken + length; token++) {
    for (let i = 0; i < dimensions; i++)
      if (vector) vector[i] = (vector[i] ?? 0) + (hidden[token * dimensions + i] ?? 0) / length;
  }
}

function lengthAt(sequences: readonly (readonly number[])[], index: number): number {
  return sequences[index]?.length ?? 0;
}
