/** Maps Termite's model types and capabilities to Hugging Face tasks. */

/** Tasks by model type. Chunkers and recognizers are token classifiers; the classifier is zero-shot, based on natural language inference. */
const tasksOfType: Readonly<Record<string, readonly string[]>> = {
  embedder: ["feature-extraction"],
  chunker: ["token-classification"],
  reranker: ["text-ranking"],
  generator: ["text-generation"],
  recognizer: ["token-classification"],
  rewriter: ["text2text-generation"],
  classifier: ["zero-shot-classification"],
  reader: ["image-to-text"],
  transcriber: ["automatic-speech-recognition"],
};

/** Tasks that a capability adds, by model type. Other capabilities do not add a task. */
const tasksOfCapability: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  embedder: { image: "zero-shot-image-classification", audio: "zero-shot-audio-classification" },
  recognizer: { answers: "question-answering", classification: "zero-shot-classification" },
  reader: { document_qa: "document-question-answering" },
};

/**
 * The values of `type` in Termite's model_manifest.json that are supported. `predictor` is recognized only to be refused by name.
 */
export const modelTypes: readonly string[] = Object.keys(tasksOfType);

/**
 * The canonical name of a Termite model type. Termite also accepts upper case and the plural ("Embedders"), which are the names
 * of its folders.
 */
export function getTermiteModelType(written: string): string {
  return written.toLowerCase().replace(/s$/, "");
}

/** Whether a Termite model type is known, `predictor` included. */
export function isModelType(written: string): boolean {
  const type = getTermiteModelType(written);
  return type === "predictor" || modelTypes.includes(type);
}

/**
 * The Hugging Face tasks of a model with this Termite type and these capabilities. `isSequenceToSequence`: the model has an
 * encoder and a decoder, as recognizers of relations do.
 */
export function getTermiteTasks(type: string, capabilities: readonly string[], isSequenceToSequence: boolean): readonly string[] {
  if (type === "embedder" && capabilities.includes("sparse")) return ["fill-mask"];
  const own = type === "recognizer" && isSequenceToSequence ? ["text2text-generation"] : (tasksOfType[type] ?? []);
  const added = tasksOfCapability[type] ?? {};
  return [...own, ...capabilities.flatMap((capability) => added[capability] ?? [])];
}
