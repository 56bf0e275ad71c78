/** The definition of a task. src/tasks/definitions.ts has the definitions of all tasks, and `taskTable` lists them. */
import type { TextSettings } from "../../models/manifest.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import type { TextWorkers } from "../text-threads/text-workers.ts";
import type { Option } from "../../runtime/options/option.ts";

/** Description of a task, from which `inferyard tasks`, docs/reference/tasks.md, commands and routes are made. */
export interface TaskDescription {
  /** Hugging Face's name of the task, or ours if it has none there. */
  readonly task: string;
  /** The method of `Runtime` that runs it. */
  readonly verb:
    | "answer"
    | "chat"
    | "chunk"
    | "classify"
    | "classifyImage"
    | "classifySound"
    | "detectObjects"
    | "detectSpeech"
    | "embed"
    | "embedSparse"
    | "extract"
    | "fillMask"
    | "generate"
    | "imageFeatures"
    | "read"
    | "recognize"
    | "rerank"
    | "rewrite"
    | "similarity"
    | "transcribe";
  /** The command of the command line, with the flag that selects this task if the command has several. */
  readonly command: string;
  /** Path of the server's own route, for example "/api/classify". Default: the server does not offer the task under /api. */
  readonly route?: string;
  /** Reference of the model that runs if a request names none. Default: a request without a model is refused with INPUT_INVALID. */
  readonly defaultModel?: string;
  /** The input, in words. */
  readonly input: string;
  /** The output, in words. */
  readonly output: string;
  /** How models that serve the task are recognized. */
  readonly models: string;
  /** Files that the model's folder must have in addition to its weights. */
  readonly files: readonly string[];
  /** Whether `pipeline` has the task under this name. */
  readonly pipeline: boolean;
}

/** A model of which only the tokenizer is used. */
export interface TokenizerOnly {
  readonly tokenizer: Tokenizer;
  /** Settings from which worker threads create the same tokenizer. */
  readonly text: TextSettings;
  /** Threads that tokenize long texts. Undefined: the calling thread does it. */
  readonly threads: TextWorkers | undefined;
}

/** A call that runs on the tokenizer alone. */
export interface TokenizerCall<Input, Result> {
  /** Reason why the model is not needed, for the error of a placement option: "the strategy fixed". */
  readonly reason: string;
  /** Alternative options, for the remedy of that error. */
  readonly alternative: string;
  run(model: TokenizerOnly, input: Input): Promise<Result>;
}

/** The code of a task. */
export interface TaskImplementation<Input, Options, Result> {
  /** All options of the task. Any other name is refused with INPUT_INVALID before the model is loaded. */
  readonly options: Readonly<Record<string, Option>>;
  /** Throws INPUT_INVALID for options that no model can obey, before one is loaded. Default: `run` makes all checks. */
  check?(options: Options): void | Promise<void>;
  /** The call to make if these options need only the model's tokenizer; undefined if they need the model. Default: every call needs the model. */
  tokenizerCall?(options: Options): TokenizerCall<Input, Result> | undefined;
  /** Runs the task on a loaded model. Rejects with INPUT_INVALID for invalid options, MODEL_UNSUPPORTED for a model that does not serve the task. */
  run(encoder: Encoder, input: Input, options: Options): Promise<Result>;
}

/** A task: its description, and its code, which is imported on first use so that a page loads only the tasks it runs. */
export interface Task<Input, Options, Result> extends TaskDescription {
  load(): Promise<TaskImplementation<Input, Options, Result>>;
}

/** Files of a model whose task needs only a tokenizer. */
export const tokenizerFiles: readonly string[] = ["tokenizer.json"];
/** Files of a model whose task needs label names, too. */
export const labelFiles: readonly string[] = ["tokenizer.json", "config.json (id2label)"];
