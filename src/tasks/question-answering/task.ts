/** Definition of the task `question-answering`. */
import type { AnswerOptions } from "./answer-options.ts";
import type { Answers } from "./answer.ts";
import type { QuestionPair } from "./question-windows.ts";
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** Answers to questions in contexts. */
export const questionAnsweringTask: Task<readonly QuestionPair[], AnswerOptions, Answers> = defineTask(
  {
    task: "question-answering",
    verb: "answer",
    command: "answer",
    route: "/api/answer",
    input: "questions and contexts",
    output: "pieces of the contexts with scores and positions",
    models: getArchitectures("question-answering"),
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const [{ answer }, { answerOptions }] = await Promise.all([import("./answer.ts"), import("./answer-options.ts")]);
    return { options: answerOptions, run: answer };
  },
);
