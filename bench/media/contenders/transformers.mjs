// transformers.js: its pipelines as its documentation shows them.
import { basename, dirname } from "node:path";
import { describeTransformers, pipeline, RawImage, readModelsFrom } from "../../peers/transformers-js.mjs";

const makers = {
  classify: async (model, options) => {
    const pipe = await pipeline("image-classification", model, options);
    const run = async (files) => {
      const labels = [];
      for (let start = 0; start < files.length; start += 8) {
        const images = files.slice(start, start + 8).map((file) => RawImage.fromBlob(new Blob([file])));
        labels.push(...(await pipe(await Promise.all(images), { top_k: 1 })).map((found) => (found[0] ?? found).label));
      }
      return labels;
    };
    return { run, close: () => pipe.dispose() };
  },
  transcribe: async (model, options) => {
    const pipe = await pipeline("automatic-speech-recognition", model, options);
    const run = async (files) => {
      const texts = [];
      for (const file of files) texts.push((await pipe(samplesOf(file), { language: "en", task: "transcribe" })).text.trim());
      return texts;
    };
    return { run, close: () => pipe.dispose() };
  },
};

// It decodes no sound outside of browsers; 16-bit PCM of one channel at 16 kHz is decoded here.
function samplesOf(file) {
  const view = new DataView(file.buffer, file.byteOffset + 44, file.byteLength - 44);
  return Float32Array.from({ length: view.byteLength / 2 }, (_value, index) => view.getInt16(2 * index, true) / 32_768);
}

export async function create({ task, model }, threads) {
  readModelsFrom(dirname(model));
  const { run, close } = await makers[task](basename(model), { dtype: "fp32", session_options: { intraOpNumThreads: threads } });
  return { what: describeTransformers(threads), all: run, close };
}
