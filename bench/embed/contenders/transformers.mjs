// transformers.js, its feature-extraction pipeline, all texts in batches as they come or one by one.
import { basename, dirname } from "node:path";
import { describeTransformers, pipeline, readModelsFrom } from "../../peers/transformers-js.mjs";
import { miniLm } from "../../measuring/shared-data.mjs";

const types = { fp32: "fp32", int8: "q8" };
const batchSize = 32;

export async function create(precision, threads) {
  readModelsFrom(dirname(miniLm));
  const extractor = await pipeline("feature-extraction", basename(miniLm), {
    dtype: types[precision],
    session_options: { intraOpNumThreads: threads },
  });
  const embedBatch = async (texts) => {
    const { data, dims } = await extractor(texts, { pooling: "mean", normalize: true });
    return texts.map((_text, index) => data.slice(index * dims[1], (index + 1) * dims[1]));
  };
  const embedInBatches = (size) => async (texts) => {
    const vectors = [];
    for (let start = 0; start < texts.length; start += size)
      vectors.push(...(await embedBatch(texts.slice(start, start + size))));
    return vectors;
  };
  return {
    what: describeTransformers(threads),
    embedOne: async (text) => (await embedBatch([text]))[0],
    bulk: { "batches of 32": embedInBatches(batchSize), "one by one": embedInBatches(1) },
    close: () => extractor.dispose(),
  };
}
