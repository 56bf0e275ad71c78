/** Definition of a task. Every folder of a task has one in `task.ts`; src/api/task-table.ts lists them. */
import type { Encoder } from "../batching/run-encodings.ts";

/** What `inferyard tasks` and docs/reference/tasks.md show of a task. */
export interface TaskDescription {
  /** Hugging Face's name of the task, or ours if it has none there. */
  readonly task: string;
  /** The method of `Runtime` that runs it. */
  readonly verb:
    | "answer"
    | "chunk"
    | "classify"
    | "embed"
    | "embedSparse"
    | "extract"
    | "fillMask"
    | "recognize"
    | "rerank"
    | "similarity";
  /** The command of the command line, with the flag that selects this task if the command has several. */
  readonly command: string;
  /** The input, in words. */
  readonly takes: string;
  /** The output, in words. */
  readonly gives: string;
  /** How a model that serves the task is recognized. */
  readonly models: string;
  /** Files that the model's folder must have in addition to its weights. */
  readonly files: readonly string[];
  /** Whether `pipeline` has the task under this name. */
  readonly pipeline: boolean;
}

/** The code of a task that runs on one loaded model. */
export interface TaskImplementation<Input, Options, Result> {
  /** Names of the task's options. Any other name is refused before the model is loaded. */
  readonly optionNames: readonly string[];
  /** Runs the task. Rejects with INPUT_INVALID for invalid options, MODEL_UNSUPPORTED for a model that does not serve the task. */
  run(encoder: Encoder, input: Input, options: Options): Promise<Result>;
}

/** A task: its description, and its code, which is imported on first use so that a page loads only the tasks it runs. */
export interface Task<Input, Options, Result> extends TaskDescription {
  load(): Promise<TaskImplementation<Input, Options, Result>>;
}

/** Defines a task that runs on one loaded model. `load` imports its code. */
export function defineTask<Input, Options, Result>(
  description: TaskDescription,
  load: () => Promise<TaskImplementation<Input, Options, Result>>,
): Task<Input, Options, Result> {
  return { ...description, load };
}

/** Files of a model whose task needs only a tokenizer. */
export const tokenizerFiles: readonly string[] = ["tokenizer.json"];
/** Files of a model whose task needs label names, too. */
export const labelFiles: readonly string[] = ["tokenizer.json", "config.json (id2label)"];
