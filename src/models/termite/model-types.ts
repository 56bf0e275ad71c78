/** Termite's types of models and its capabilities, in Hugging Face's names of tasks. */

/** The type alone, without capabilities. Its chunkers and recognizers are token classifiers, its classifier is zero-shot over NLI. */
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

/** What a capability adds. The ones left out say how a model answers, not which task it serves. */
const tasksOfCapability: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  embedder: { image: "zero-shot-image-classification", audio: "zero-shot-audio-classification" },
  recognizer: { answers: "question-answering", classification: "zero-shot-classification" },
  reader: { document_qa: "document-question-answering" },
};

/** Known to Termite; `predictor` is known here only to be refused by name. */
export const modelTypes: readonly string[] = Object.keys(tasksOfType);

/** Termite takes capitals and the plural ("Embedders"), which are the names of its folders. */
export function modelTypeOf(written: string): string {
  return written.toLowerCase().replace(/s$/, "");
}

export function isModelType(written: string): boolean {
  const type = modelTypeOf(written);
  return type === "predictor" || modelTypes.includes(type);
}

/** `isSequenceToSequence`: the model has an encoder and a decoder, as recognizers of relations do. */
export function tasksOf(type: string, capabilities: readonly string[], isSequenceToSequence: boolean): readonly string[] {
  if (type === "embedder" && capabilities.includes("sparse")) return ["fill-mask"];
  const own = type === "recognizer" && isSequenceToSequence ? ["text2text-generation"] : (tasksOfType[type] ?? []);
  const added = tasksOfCapability[type] ?? {};
  return [...own, ...capabilities.flatMap((capability) => added[capability] ?? [])];
}
