/** The definitions of all tasks. */
export { chunkingTask } from "./chunking/task.ts";
export { textClassificationTask, zeroShotClassificationTask } from "./classification/task.ts";
export { embeddingTask } from "./embedding/task.ts";
export { extractionTask } from "./extraction/task.ts";
export { fillMaskTask } from "./fill-mask/task.ts";
export { chatTask, generationTask, rewritingTask } from "./generation/task.ts";
export { questionAnsweringTask } from "./question-answering/task.ts";
export { rerankingTask } from "./reranking/task.ts";
export { similarityTask } from "./similarity/task.ts";
export { sparseEmbeddingTask } from "./sparse-embedding/task.ts";
export { tokenClassificationTask } from "./token-classification/task.ts";
