/** Hugging Face's pipelines over HTTP, and the routes /api/fill-mask and /api/answer, against what the library gives. */
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { afterAll, describe, expect, it } from "vitest";
import { hasSharedData, needsData, sharedData } from "../fixtures/shared-data.ts";

const models = {
  bert: `${sharedData}tiny-random-bert`,
  nli: `${sharedData}tiny-bert-nli-untrained`,
  ner: `${sharedData}minilm-l3-ner`,
  splade: `${sharedData}tiny-random-splade`,
  "owner/t5": `${sharedData}tiny-random-t5`,
};
const runtime = await createRuntime({ host: "inline", threads: 1 });
afterAll(() => runtime.dispose());
const handlerOf = (defaultModel?: string): Handler =>
  createHandler(runtime, hasSharedData ? { models, ...(defaultModel === undefined ? {} : { defaultModel }) } : {});
const handler = handlerOf();

async function post(path: string, body: unknown, by: Handler = handler): Promise<{ status: number; body: never }> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await by(new Request(`http://localhost${path}`, init));
  return { status: response.status, body: (await response.json()) as never };
}

const text = "Angela Merkel 🙂 visited Paris.";
const [skip, title] = needsData("Hugging Face's pipelines");

describe.skipIf(skip)(title, () => {
  it("text classification: a list of lists", async () => {
    const { results } = await runtime.classify(text, { model: models.nli });
    const labels = results.map((each) => each.map(({ label, score }) => ({ label, score })));
    expect((await post("/models/nli", { inputs: text })).body).toEqual(labels);
    expect((await post("/models/nli/pipeline/text-classification", { inputs: [text], parameters: { top_k: 1 } })).body).toEqual([
      labels[0]!.slice(0, 1),
    ]);
    expect((await post("/pipeline/sentiment-analysis/nli", { inputs: text, options: { wait_for_model: true } })).body).toEqual(
      labels,
    );
    const byDefault = handlerOf("nli");
    expect((await post("/", { inputs: text, parameters: {} }, byDefault)).body).toEqual(labels);
    expect((await post("/invocations", { inputs: text }, byDefault)).body).toEqual(labels[0]);
  });

  it("token classification: entities, at code points", async () => {
    const { results } = await runtime.recognize(text, { model: models.ner, offsets: "codepoints" });
    const entities = results[0]!.map(({ entityGroup, score, word, start, end }) => ({
      entity_group: entityGroup,
      score,
      word,
      start,
      end,
    }));
    expect(entities.map(({ entity_group: group }) => group)).toContain("PER");
    expect((await post("/hf-inference/models/ner", { inputs: text })).body).toEqual(entities);
    expect((await post("/", { inputs: text }, handlerOf("ner"))).body).toEqual(entities);
    expect((await post("/models/ner", { inputs: [text, ""] })).body).toEqual([entities, []]);
    const { body } = await post("/models/ner", { inputs: text, parameters: { aggregation_strategy: "none" } });
    expect(Object.keys(body[0])).toEqual(["entity", "score", "index", "word", "start", "end"]);
  });

  it("zero-shot classification: labels of one's own", async () => {
    const candidates = ["politics", "cooking"];
    const { results } = await runtime.classify(text, { model: models.nli, labels: candidates, hypothesisTemplate: "About {}." });
    const scores = results[0]!.map(({ label, score }) => ({ label, score }));
    const parameters = { candidate_labels: candidates, hypothesis_template: "About {}.", multi_label: null };
    expect((await post("/models/nli", { inputs: text, parameters })).body).toEqual(scores);
    // As the page of @huggingface/inference writes it.
    expect((await post("/models/nli", { inputs: [text], parameters })).body).toEqual(scores);
    expect(
      (await post("/", { inputs: text, parameters: { ...parameters, candidate_labels: "politics, cooking" } }, handlerOf("nli")))
        .body,
    ).toEqual(scores);
  });

  it("sentence similarity and feature extraction", async () => {
    const inputs = { source_sentence: "a cat", sentences: ["a dog", "a car"] };
    const { scores } = await runtime.similarity(["a cat"], inputs.sentences, {});
    const similarity = scores.map((row) => [...row])[0];
    expect((await post("/models/builtin/pipeline/sentence-similarity", { inputs, parameters: {} })).body).toEqual(similarity);
    expect((await post("/", { inputs })).body).toEqual(similarity);
    const { embeddings } = await runtime.embed("a cat");
    expect((await post("/hf-inference/models/builtin/pipeline/feature-extraction", { inputs: "a cat" })).body).toEqual(
      embeddings.map((vector) => [...vector]),
    );
  });

  it("refuse what is not built, is not there, or has no meaning, each by name", async () => {
    expect((await post("/models/nli/pipeline/table-question-answering", { inputs: text })).status).toBe(501);
    expect((await post("/pipeline/text-generation/nli", { inputs: text })).status).toBe(424);
    expect((await post("/models/nobody/nothing", { inputs: text })).status).toBe(404);
    const unknown = await post("/models/nli/pipeline/astrology", { inputs: text });
    expect(unknown).toMatchObject({ status: 422, body: { error: expect.stringContaining("astrology") } });
    const field = await post("/models/ner", { inputs: text, parameters: { aggregate: "simple" } });
    expect(field.status).toBe(200); // a field that is not known is left out, and the header says so
    expect((await post("/models/ner/pipeline/question-answering", { inputs: { question: "Who?", context: text } })).status).toBe(
      424,
    );
  });
});

const [skipOwn, ownTitle] = needsData("/api/fill-mask and /api/answer");
describe.skipIf(skipOwn)(ownTitle, () => {
  const masked = "The cat sat on the [MASK].";

  it("give tokens for masks as the library does", async () => {
    const { results } = await runtime.fillMask(masked, { model: models.splade, topK: 2 });
    const { body } = await post("/api/fill-mask", { model: "splade", texts: [masked], top_k: 2 });
    const fills = results.map((masks) =>
      masks.map((each) =>
        each.map(({ token, tokenText, score, sequence }) => ({ token: tokenText, token_id: token, score, text: sequence })),
      ),
    );
    expect(body).toEqual({ model: "splade", fills });
    const pipeline = await post("/models/splade/pipeline/fill-mask", { inputs: masked, parameters: { top_k: 2 } });
    const same = results[0]![0]!.map(({ token, tokenText, score, sequence }) => ({
      score,
      token,
      token_str: tokenText,
      sequence,
    }));
    expect(pipeline.body).toEqual(same);
  });

  it("refuse a model without the head, and fields that are not there", async () => {
    const question = { question: "Who visited Paris?", contexts: [text] };
    expect((await post("/api/answer", { model: "ner", ...question })).status).toBe(422);
    expect((await post("/api/answer", { model: "ner", question: "Who?" })).status).toBe(400);
    expect((await post("/api/fill-mask", { model: "nli", texts: [masked] })).status).toBe(422);
  });
});
