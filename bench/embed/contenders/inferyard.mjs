// Inferyard as it comes: no setting but the model and its variant.
import { createRuntime } from "../../measuring/built-package.mjs";
import { miniLm } from "../../measuring/shared-data.mjs";

export const create = (precision) => createOn(precision, {});

// The same with `options` of the load: the contender `native` names its target.
export async function createOn(precision, options) {
  const runtime = await createRuntime();
  const model = await runtime.load(miniLm, { variant: precision, ...options });
  const { library, host } = model.decision.selected;
  const bulk = async (texts) => (await runtime.embed(texts, { model })).embeddings;
  return {
    what: `${model.target}, host ${host}, ${library.name} ${library.version}`,
    embedOne: async (text) => (await runtime.embed(text, { model })).embeddings[0],
    bulk: { default: bulk },
    close: () => runtime.dispose(),
  };
}
