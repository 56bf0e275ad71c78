/** POST /rerank, /predict and /similarity: texts judged against a query, by labels, or by how alike they are. */
import { createRoute, z } from "@hono/zod-openapi";
import type { TextPair } from "../../tasks/encode-pairs.ts";
import { type Routes, servedHeaders } from "../context.ts";
import { relevanceOf } from "../ranking-numbers.ts";
import { jsonRoute } from "../json-route.ts";
import type { Service } from "../service.ts";
import { emptyError, errorAnswers } from "./errors.ts";
import { callModel, cuttingFields, promptName, truncationOf } from "./requests.ts";

const rawScores = z.boolean().optional().openapi({ description: "The model's own numbers, with no activation. Default: false" });

const rerankRequest = z
  .strictObject({
    query: z.string(),
    texts: z.array(z.string()),
    raw_scores: rawScores,
    return_text: z.boolean().optional().openapi({ description: "Whether ranks carry their texts. Default: false" }),
    ...cuttingFields,
  })
  .openapi("TeiRerankRequest");
const rank = z.object({ index: z.int(), score: z.number(), text: z.string().optional() });
const rerankRoute = createRoute(
  jsonRoute(
    "/rerank",
    "Texts in the order of how well they answer, as text-embeddings-inference",
    rerankRequest,
    z.array(rank),
    errorAnswers,
  ),
);

export function addRerank(routes: Routes, service: Service): void {
  routes.openapi(rerankRoute, async (context) => {
    const { query, texts, raw_scores: raw = false, return_text: withText = false, ...cutting } = context.req.valid("json");
    if (texts.length === 0) throw emptyError("`texts`");
    const options = { ...truncationOf(cutting), ...(raw ? { raw } : {}) };
    const served = await callModel(service, context, texts.length, ["rerank", query, texts, options], (handle, signal) =>
      service.runtime.rerank(query, texts, { ...options, model: handle, signal }),
    );
    const { results, scoring } = served.result;
    const ranks = results.map(({ index, score, text }) => ({
      index,
      score: raw ? score : relevanceOf(scoring, score),
      ...(withText ? { text } : {}),
    }));
    return context.json(ranks, 200, servedHeaders(served));
  });
}

const pair = z.tuple([z.string(), z.string()]);
const predictRequest = z
  .strictObject({
    inputs: z.union([z.string(), pair, z.array(z.union([z.tuple([z.string()]), pair]))]).openapi({
      description: "A text, a pair of texts, or a list of lists of one or two texts",
      example: "I like it",
    }),
    raw_scores: rawScores,
    ...cuttingFields,
  })
  .openapi("TeiPredictRequest");
const prediction = z.object({ label: z.string(), score: z.number() });
const predictResponse = z.union([z.array(prediction), z.array(z.array(prediction))]);
const predictRoute = createRoute(
  jsonRoute(
    "/predict",
    "Labels of texts with scores, as text-embeddings-inference",
    predictRequest,
    predictResponse,
    errorAnswers,
  ),
);

export function addPredict(routes: Routes, service: Service): void {
  routes.openapi(predictRoute, async (context) => {
    const { inputs, raw_scores: raw = false, ...cutting } = context.req.valid("json");
    const one = typeof inputs === "string" || (inputs.length === 2 && typeof inputs[0] === "string");
    const texts = predictTexts(inputs);
    if (texts.length === 0) throw emptyError("`inputs`");
    const options = { ...truncationOf(cutting), ...(raw ? { activation: "none" as const } : {}) };
    const served = await callModel(service, context, texts.length, ["classify", texts, options], (handle, signal) =>
      service.runtime.classify(texts, { ...options, model: handle, signal }),
    );
    const predictions = served.result.results.map((labels) => labels.map(({ label, score }) => ({ label, score })));
    return context.json(one ? (predictions[0] ?? []) : predictions, 200, servedHeaders(served));
  });
}

/** Two strings in a list are a pair; lists in a list are a batch. */
function predictTexts(inputs: z.infer<typeof predictRequest>["inputs"]): (string | TextPair)[] {
  if (typeof inputs === "string") return [inputs];
  const [first, second] = inputs;
  if (typeof first === "string" && typeof second === "string") return [{ text: first, pair: second }];
  return inputs.flatMap((item) => {
    if (typeof item === "string") return [item];
    const [text, pair] = item;
    return [pair === undefined ? text : { text, pair }];
  });
}

const similarityRequest = z
  .strictObject({
    inputs: z.strictObject({ source_sentence: z.string(), sentences: z.array(z.string()) }),
    parameters: z.strictObject({ prompt_name: promptName, ...cuttingFields }).nullish(),
  })
  .openapi("TeiSimilarityRequest");
const similarityRoute = createRoute(
  jsonRoute(
    "/similarity",
    "Cosines of a text with others, as text-embeddings-inference",
    similarityRequest,
    z.array(z.number()),
    errorAnswers,
  ),
);

export function addSimilarity(routes: Routes, service: Service): void {
  routes.openapi(similarityRoute, async (context) => {
    const { inputs, parameters } = context.req.valid("json");
    const { source_sentence: source, sentences } = inputs;
    if (sentences.length === 0) throw emptyError("`sentences`");
    const prompt = parameters?.prompt_name;
    const options = { ...truncationOf(parameters ?? {}), ...(typeof prompt === "string" ? { prompt } : {}) };
    const question = ["similarity", source, sentences, options] as const;
    const served = await callModel(service, context, sentences.length + 1, question, (handle, signal) =>
      service.runtime.similarity([source], sentences, { ...options, metric: "cosine", model: handle, signal }),
    );
    return context.json([...(served.result.scores[0] ?? [])], 200, servedHeaders(served));
  });
}
