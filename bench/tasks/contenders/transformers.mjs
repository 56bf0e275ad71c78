// transformers.js: its pipelines, and for ranking its tokenizer and model, as its model cards show it; texts in batches as they come.
import {
  AutoModelForSequenceClassification,
  AutoTokenizer,
  describeTransformers,
  pipeline,
  readModelsFrom,
} from "../../peers/transformers-js.mjs";
import { sharedPath } from "../../measuring/shared-data.mjs";
import { query } from "../work.mjs";

const batchSize = 32;

export async function create({ name, model }, threads) {
  readModelsFrom(sharedPath(""));
  const options = { dtype: "fp32", session_options: { intraOpNumThreads: threads } };
  const { run, close } = await makers[name](model, options);
  const all = async (texts) => {
    const results = [];
    for (let start = 0; start < texts.length; start += batchSize)
      results.push(...(await run(texts.slice(start, start + batchSize))));
    return results;
  };
  return { what: describeTransformers(threads), all, close };
}

const makers = {
  recognize: async (model, options) => {
    const pipe = await pipeline("token-classification", model, options);
    const run = async (texts) => (await pipe(texts)).map((entities) => entities.map(({ entity }) => entity).join(" "));
    return { run, close: () => pipe.dispose() };
  },
  classify: async (model, options) => {
    const pipe = await pipeline("text-classification", model, options);
    return { run: async (texts) => (await pipe(texts)).map(({ label }) => label), close: () => pipe.dispose() };
  },
  rerank: async (name, options) => {
    const tokenizer = await AutoTokenizer.from_pretrained(name);
    const model = await AutoModelForSequenceClassification.from_pretrained(name, options);
    const run = async (texts) => {
      const pairs = { text_pair: texts, padding: true, truncation: true };
      const { logits } = await model(tokenizer(Array(texts.length).fill(query), pairs));
      return [...logits.data];
    };
    return { run, close: () => model.dispose() };
  },
};
