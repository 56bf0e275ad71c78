// The models of a server that is treated badly: sound ones, with the library's own vectors, and broken ones.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { abortingModel } from "../../test/fixtures/models/aborting-model.ts";
import { createRuntime } from "../measuring/built-package.mjs";
import { miniLm, sharedPath } from "../measuring/shared-data.mjs";
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";

// `small`: without MiniLM, which takes long to load.
export function soundModels(folder, small) {
  const tiny = join(folder, "tiny");
  cpSync(sharedPath("tiny-random-bert"), tiny, { recursive: true });
  mkdirSync(join(tiny, "1_Pooling"));
  const modules = ["Transformer", "Pooling"].map((type, idx) => ({
    idx,
    name: String(idx),
    path: idx === 0 ? "" : "1_Pooling",
    type: `sentence_transformers.models.${type}`,
  }));
  writeFileSync(join(tiny, "modules.json"), JSON.stringify(modules));
  writeFileSync(join(tiny, "1_Pooling/config.json"), JSON.stringify({ pooling_mode_mean_tokens: true }));
  return { tiny, ...(small ? {} : { minilm: miniLm }), builtin: "builtin" };
}

// By name: one that is cut off, one with other bytes in the middle, one that is no model, one that aborts the engine.
export function brokenModels(folder, tiny, random) {
  const graph = readFileSync(join(tiny, "onnx/model.onnx"));
  const noisy = Buffer.from(graph);
  for (let count = 0; count < 200; count += 1) noisy[Math.floor(random() * 4000)] = Math.floor(random() * 256);
  const graphs = { cut: graph.subarray(0, graph.length / 2), noise: noisy, text: Buffer.from("this is no model") };
  for (const [name, bytes] of Object.entries(graphs)) {
    const place = join(folder, name);
    cpSync(tiny, place, { recursive: true });
    for (const other of ["model.safetensors", "onnx"]) rmSync(join(place, other), { recursive: true, force: true });
    mkdirSync(join(place, "onnx"));
    writeFileSync(join(place, "onnx/model.onnx"), bytes);
  }
  writeFileSync(join(folder, "abort.onnx"), abortingModel());
  const folders = Object.fromEntries(Object.keys(graphs).map((name) => [name, join(folder, name)]));
  return { ...folders, abort: join(folder, "abort.onnx") };
}

export async function libraryVectors(models) {
  const texts = textsOfLengths(mixedLengths(32));
  const runtime = await createRuntime();
  const vectors = {};
  for (const [name, model] of Object.entries(models)) vectors[name] = (await runtime.embed(texts, { model })).embeddings;
  await runtime.dispose();
  return { texts, vectors };
}
