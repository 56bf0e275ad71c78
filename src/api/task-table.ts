/** The table of tasks: input, output, models that serve it, method of `Runtime`, and command. Printed by `inferyard tasks`. */
import {
  chatTask,
  chunkingTask,
  embeddingTask,
  extractionTask,
  fillMaskTask,
  generationTask,
  questionAnsweringTask,
  rerankingTask,
  rewritingTask,
  similarityTask,
  sparseEmbeddingTask,
  textClassificationTask,
  tokenClassificationTask,
  zeroShotClassificationTask,
} from "../tasks/definitions.ts";
import type { TaskDescription } from "../tasks/definition/task.ts";

/** All tasks, in the order of docs/reference/tasks.md. */
export const taskTable: readonly TaskDescription[] = [
  embeddingTask,
  sparseEmbeddingTask,
  rerankingTask,
  textClassificationTask,
  zeroShotClassificationTask,
  tokenClassificationTask,
  fillMaskTask,
  questionAnsweringTask,
  similarityTask,
  extractionTask,
  chunkingTask,
  generationTask,
  chatTask,
  rewritingTask,
];
