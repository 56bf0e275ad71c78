/** Definitions of the tasks that generate text. They run on language models, so that `Runtime` calls them otherwise than the tasks on encoders. */
import { getArchitectures } from "../../models/huggingface/model-card.ts";
import { type TaskDescription, tokenizerFiles } from "../definition/define-task.ts";

/** The task `text-generation`: texts that follow prompts. */
export const generationTask: TaskDescription = {
  task: "text-generation",
  verb: "generate",
  command: "generate",
  route: "/api/generate",
  input: "prompts",
  output: "for each the text that follows",
  models: getArchitectures("text-generation"),
  files: tokenizerFiles,
  pipeline: true,
};

/** The task `chat`: answers to conversations. */
export const chatTask: TaskDescription = {
  task: "chat",
  verb: "chat",
  command: "chat",
  route: "/api/chat",
  input: "the messages of a conversation, and tools",
  output: "the next message: text, thoughts, calls of tools",
  models: `${getArchitectures("text-generation")} with a chat template`,
  files: ["tokenizer.json", "tokenizer_config.json or chat_template.jinja"],
  pipeline: false,
};

/** The task `text2text-generation`: texts rewritten by a model with an encoder and a decoder. */
export const rewritingTask: TaskDescription = {
  task: "text2text-generation",
  verb: "rewrite",
  command: "rewrite",
  route: "/api/rewrite",
  input: "texts",
  output: "for each its summary, its translation, or what else the model makes of it",
  models: getArchitectures("text2text-generation"),
  files: tokenizerFiles,
  pipeline: true,
};
