/** What a late-interaction model's own files say of queries and documents: markers, mask tokens, punctuation. Held against runs by hand. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime, maxSim } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const pylate = {
  query_prefix: "[unk]",
  document_prefix: "the",
  query_length: 12,
  document_length: 10,
  do_query_expansion: true,
  attend_to_expansion_tokens: false,
  skiplist_words: [".", "?", "never a token"],
};

const [skip, title] = needsData("late interaction as the model's files say");
describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-late-"));
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 })));
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  function modelWith(name: string, file: string, content: object): string {
    const path = join(folder, name);
    cpSync(`${sharedData}tiny-random-colbert`, path, { recursive: true });
    writeFileSync(join(path, file), JSON.stringify(content));
    return path;
  }

  /** Vectors of exactly these ids, of which the first so many are seen by the others. */
  async function vectorsOf(model: string, ids: readonly number[], attended = ids.length): Promise<Float32Array[]> {
    const handle = await runtime.load(model);
    const row = (values: readonly number[]) =>
      ({ dataType: "int64", shape: [1, ids.length], data: BigInt64Array.from(values, BigInt) }) as const;
    const { contextual } = await handle.run({
      input_ids: row(ids),
      attention_mask: row(ids.map((_id, index) => (index < attended ? 1 : 0))),
      token_type_ids: row(ids.map(() => 0)),
    });
    await handle.dispose();
    const size = contextual!.shape[2]!;
    return ids.map((_id, index) => (contextual!.data as Float32Array).slice(index * size, (index + 1) * size));
  }

  const joined = (vectors: readonly Float32Array[]): number[] => vectors.flatMap((vector) => [...vector]);
  const isClose = (actual: Float32Array, expected: readonly number[]): void => {
    expect(actual).toHaveLength(expected.length);
    for (const [index, value] of expected.entries()) expect(actual[index]).toBeCloseTo(value, 5);
  };

  it("PyLate: a marker, queries filled with unseen mask tokens, documents without skipped words", async () => {
    const marked = { ...pylate, query_prefix: "[UNK]" };
    const model = modelWith("pylate", "config_sentence_transformers.json", marked);
    const handle = await runtime.load(model);
    const tokenizer = await runtime.tokenizer(handle);
    const [unknown, the, mask] = [tokenizer.tokenToId("[UNK]")!, tokenizer.tokenToId("the")!, tokenizer.tokenToId("[MASK]")!];
    const query = "What is it?";
    const document = "Paris is the capital. of France?";

    const plain = tokenizer.encode(query).ids;
    const queryIds = [plain[0]!, unknown, ...plain.slice(1)];
    const filled = [...queryIds, ...Array.from({ length: 12 - queryIds.length }, () => mask)];
    expect(filled.length).toBeGreaterThan(queryIds.length);
    const asked = await runtime.embed(query, { model, prompt: "query" });
    expect(asked.pooling).toBe("none");
    isClose(asked.embeddings[0]!, joined(await vectorsOf(model, filled, queryIds.length)));

    const cut = tokenizer.encode(document, { maxTokens: 9 }).ids;
    const documentIds = [cut[0]!, the, ...cut.slice(1)];
    const all = await vectorsOf(model, documentIds);
    const skipped = new Set([tokenizer.tokenToId("."), tokenizer.tokenToId("?")]);
    const kept = all.filter((_vector, index) => !skipped.has(documentIds[index]));
    expect(kept.length).toBeLessThan(all.length);
    const given = await runtime.embed(document, { model });
    isClose(given.embeddings[0]!, joined(kept));
    expect(given.truncated).toEqual([0]);

    const { results, scoring } = await runtime.rerank(query, [document, "it is."], { model });
    expect(scoring).toBe("maxsim");
    const { dimensions } = given;
    const score = maxSim({ data: asked.embeddings[0]!, dimensions }, { data: given.embeddings[0]!, dimensions });
    expect(results.find(({ index }) => index === 0)?.score).toBeCloseTo(score, 4);
    for (const ignored of [{ dimensions: 4 }, { truncate: "windows" }, { normalize: true }] as const)
      await expect(runtime.embed(query, { model, ...ignored })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.embed(query, { model, prompt: "passage" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await handle.dispose();
  });

  it("ColBERT's artifact.metadata: its markers, and all of Python's punctuation", async () => {
    const metadata = { query_token_id: "[CLS]", doc_token_id: "[SEP]", query_maxlen: 8, doc_maxlen: 40, mask_punctuation: true };
    const model = modelWith("colbert", "artifact.metadata", metadata);
    const { manifest } = await runtime.load(model);
    expect(manifest.text?.lateInteraction).toMatchObject({
      query: { marker: "[CLS]", maxTokens: 8 },
      document: { marker: "[SEP]", maxTokens: 40 },
      expansion: { length: 8, attend: false },
    });
    expect(manifest.text?.lateInteraction?.skippedWords).toHaveLength(32);
    const { embeddings, dimensions, tokens } = await runtime.embed("a cat.", { model });
    expect(embeddings[0]!.length / dimensions).toBe(tokens[0]! - 1);
  });

  it("refuses a marker the tokenizer does not have", async () => {
    const model = modelWith("wrong", "config_sentence_transformers.json", { ...pylate, query_prefix: "[Q-unknown]" });
    await expect(runtime.rerank("a", ["b"], { model })).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });
});
