/** Tasks asked of models that cannot serve them: refused by what the files state, before anything is loaded. */
import { type Runtime, type RuntimeEvent, createRuntime } from "inferyard";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("models for other tasks");
const messages = [{ role: "user", content: "Hello" }] as const;

const calls = {
  embed: (runtime: Runtime, model: string) => runtime.embed("a", { model }),
  similarity: (runtime: Runtime, model: string) => runtime.similarity("a", "b", { model }),
  embedSparse: (runtime: Runtime, model: string) => runtime.embedSparse("a", { model }),
  classify: (runtime: Runtime, model: string) => runtime.classify("a", { model }),
  zeroShot: (runtime: Runtime, model: string) => runtime.classify("a", { model, labels: ["b", "c"] }),
  recognize: (runtime: Runtime, model: string) => runtime.recognize("a", { model }),
  fillMask: (runtime: Runtime, model: string) => runtime.fillMask("a [MASK]", { model }),
  answer: (runtime: Runtime, model: string) => runtime.answer("a", "b", { model }),
  rerank: (runtime: Runtime, model: string) => runtime.rerank("a", ["b"], { model }),
  chat: (runtime: Runtime, model: string) => runtime.chat(messages, { model }),
  rewrite: (runtime: Runtime, model: string) => runtime.rewrite("a", { model }),
};

describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  let events: RuntimeEvent[] = [];
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1, onEvent: (event) => events.push(event) });
  });
  beforeEach(() => void (events = []));
  afterAll(() => runtime.dispose());

  it.each([
    ["embed", "minilm-l3-ner", "no output of this model holds embeddings"],
    ["embed", "tiny-random-bert", "how its token vectors are pooled"],
    ["embed", "vision/mnist.onnx", "has no tokenizer"],
    ["similarity", "tiny-bert-nli-untrained", "no output of this model holds embeddings"],
    ["embedSparse", "tiny-random-bert", "no masked-language-model head"],
    ["classify", "tiny-random-colbert", "does not state its labels"],
    ["classify", "tinyllm/tinyllm.gguf", "does not state its labels"],
    ["classify", "minilm-l3-ner", "no output of this model holds logits"],
    ["zeroShot", "minilm-pair-scorer", "no label that says entailment"],
    ["recognize", "tiny-bert-nli-untrained", "no output of this model holds logits"],
    ["fillMask", "tiny-random-bert", "no masked-language-model head"],
    ["fillMask", "tinyllm/tinyllm.gguf", "no masked-language-model head"],
    ["answer", "tiny-random-bert", "no question-answering head"],
    ["rerank", "minilm-l3-ner", "a reranker has one or two"],
    ["chat", "tiny-random-gpt2", "has no chat template"],
    ["rewrite", "tinyllm/tinyllm.gguf", "has no encoder"],
  ] as const)("%s on %s", async (verb, model, reason) => {
    const code: unknown = expect.stringMatching(/^(MODEL_UNSUPPORTED|POOLING_UNKNOWN)$/);
    await expect(calls[verb](runtime, sharedData + model)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(reason),
    });
    expect(events).toEqual([]);
  });

  it("a right call that comes with a wrong one for the same model is answered", async () => {
    const model = `${sharedData}tiny-random-colbert`;
    const [wrong, right, other] = await Promise.allSettled([
      calls.classify(runtime, model),
      calls.embed(runtime, model),
      calls.fillMask(runtime, model),
    ]);
    expect([wrong.status, right.status, other.status]).toEqual(["rejected", "fulfilled", "rejected"]);
    expect(events.map(({ type }) => type)).toEqual(["loading", "loaded"]);
  });
});
