// transformers.js as it is installed here, with nothing fetched: models come from the folder given.
import { createRequire } from "node:module";
import { env } from "@huggingface/transformers";

export * from "@huggingface/transformers";

// Says what runs, for the report.
export function describeTransformers(threads) {
  const engine = createRequire(import.meta.resolve("@huggingface/transformers"))("onnxruntime-node/package.json").version;
  return `transformers.js ${env.version}, onnxruntime-node ${engine}, ${threads} threads`;
}

export function readModelsFrom(folder) {
  env.allowRemoteModels = false;
  env.localModelPath = folder;
}
