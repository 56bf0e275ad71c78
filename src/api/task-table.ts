/** The table of all tasks: input, output, supported models, and how each is called. `inferyard tasks` prints it. */
import { architecturesOf } from "../models/huggingface/model-card.ts";
import type { Runtime } from "./runtime.ts";

/** A task: one way to use a model. */
export interface TaskRow {
  /** Its Hugging Face name; a name of ours if it has none. */
  readonly task: string;
  /** The method of Runtime that runs it. */
  readonly verb: Extract<keyof Runtime, string>;
  /** The command, with the flag that selects this task if the command has several. */
  readonly command: string;
  /** The input, in words. */
  readonly takes: string;
  /** The output, in words. */
  readonly gives: string;
  /** How a model that supports the task is recognized. */
  readonly models: string;
  /** Files that the model's folder must have besides its weights. */
  readonly files: readonly string[];
  /** Whether `pipeline` supports it under this name. */
  readonly pipeline: boolean;
}

const tokenizerFiles = ["tokenizer.json"];
const labelFiles = ["tokenizer.json", "config.json (id2label)"];

/** All tasks. */
export const taskTable: readonly TaskRow[] = [
  {
    task: "feature-extraction",
    verb: "embed",
    command: "embed",
    takes: "texts",
    gives: "a vector per text, or per token",
    models: "modules.json, a static embedding, or token vectors as output",
    files: tokenizerFiles,
    pipeline: true,
  },
  {
    task: "sparse-embedding",
    verb: "embedSparse",
    command: "embed --sparse",
    takes: "texts",
    gives: "weights of vocabulary tokens",
    models: architecturesOf("fill-mask"),
    files: tokenizerFiles,
    pipeline: false,
  },
  {
    task: "text-ranking",
    verb: "rerank",
    command: "rerank",
    takes: "a query and documents",
    gives: "the documents in order, with scores",
    models: `${architecturesOf("text-classification")} with one or two labels; any embedding model; token vectors called "contextual"`,
    files: tokenizerFiles,
    pipeline: true,
  },
  {
    task: "text-classification",
    verb: "classify",
    command: "classify",
    takes: "texts, or pairs of texts",
    gives: "labels with scores",
    models: architecturesOf("text-classification"),
    files: labelFiles,
    pipeline: true,
  },
  {
    task: "zero-shot-classification",
    verb: "classify",
    command: "classify --labels",
    takes: "texts, and labels of your own",
    gives: "those labels with scores",
    models: `${architecturesOf("text-classification")} with a label "entailment"`,
    files: labelFiles,
    pipeline: true,
  },
  {
    task: "token-classification",
    verb: "recognize",
    command: "recognize",
    takes: "texts",
    gives: "names with their kinds and places",
    models: `${architecturesOf("token-classification")}; gliner_config.json, for labels of your own`,
    files: labelFiles,
    pipeline: true,
  },
  {
    task: "fill-mask",
    verb: "fillMask",
    command: "fill-mask",
    takes: "texts with mask tokens",
    gives: "for each mask tokens with scores",
    models: architecturesOf("fill-mask"),
    files: tokenizerFiles,
    pipeline: true,
  },
  {
    task: "question-answering",
    verb: "answer",
    command: "answer",
    takes: "questions and contexts",
    gives: "pieces of the contexts with scores and places",
    models: architecturesOf("question-answering"),
    files: tokenizerFiles,
    pipeline: true,
  },
  {
    task: "sentence-similarity",
    verb: "similarity",
    command: "similarity",
    takes: "texts, and texts to compare them with",
    gives: "a score for each of the one with each of the other",
    models: "any embedding model",
    files: tokenizerFiles,
    pipeline: false,
  },
  {
    task: "extraction",
    verb: "extract",
    command: "extract",
    takes: "texts and a schema of fields",
    gives: "the fields of each text with scores and places",
    models: `${architecturesOf("token-classification")}; ${architecturesOf("question-answering")} for fields that are questions`,
    files: labelFiles,
    pipeline: false,
  },
  {
    task: "chunking",
    verb: "chunk",
    command: "chunk",
    takes: "long texts",
    gives: "parts of at most so many tokens",
    models: "any with a tokenizer",
    files: tokenizerFiles,
    pipeline: false,
  },
];
