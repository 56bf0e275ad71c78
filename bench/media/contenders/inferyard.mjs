// Inferyard as it comes: no setting but the model.
import { createRuntime } from "../../measuring/built-package.mjs";

const runs = {
  classify: async (runtime, files, model) =>
    (await runtime.classifyImage(files, { model, topK: 1 })).results.map(([best]) => best.label),
  read: async (runtime, files, model) => {
    const texts = [];
    for (const file of files) texts.push((await runtime.read(file, { model })).lines.map(({ text }) => text).join("\n"));
    return texts;
  },
  // Beam 1, temperature 0 and no voice activity on all sides.
  transcribe: async (runtime, files, model) => {
    const texts = [];
    const options = { model, language: "en", temperature: 0, vad: false, timestamps: "none", conditionOnPreviousText: false };
    for (const file of files) texts.push((await runtime.transcribe(file, options)).text.trim());
    return texts;
  },
};

export async function create({ task, model: folder }) {
  const runtime = await createRuntime();
  const model = task === "read" ? folder : await runtime.load(folder, task === "transcribe" ? { kind: "language" } : {});
  return {
    what: task === "read" ? "the fastest target of each network" : model.target,
    all: (files) => runs[task](runtime, files, model),
    close: () => runtime.dispose(),
  };
}
