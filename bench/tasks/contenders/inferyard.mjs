// Inferyard as it comes: no setting but the model.
import { createRuntime } from "../../measuring/built-package.mjs";
import { sharedPath } from "../../measuring/shared-data.mjs";
import { query } from "../work.mjs";

const runs = {
  recognize: async (runtime, texts, model) => {
    const { results } = await runtime.recognize(texts, { model, aggregation: "none" });
    return results.map((entities) => entities.map(({ entity }) => entity).join(" "));
  },
  classify: async (runtime, texts, model) =>
    (await runtime.classify(texts, { model, topK: 1 })).results.map(([best]) => best.label),
  rerank: async (runtime, texts, model) => {
    const { results } = await runtime.rerank(query, texts, { model, raw: true });
    return results.toSorted((a, b) => a.index - b.index).map(({ score }) => score);
  },
};

export async function create({ name, model: folder }) {
  const runtime = await createRuntime();
  const model = await runtime.load(sharedPath(folder));
  const { library, host } = model.decision.selected;
  return {
    what: `${model.target}, host ${host}, ${library.name} ${library.version}`,
    all: (texts) => runs[name](runtime, texts, model),
    close: () => runtime.dispose(),
  };
}
