/** The interface of transformers.js: `await pipeline(task, model)` returns a function. */
import { omitUndefined } from "../contract/checked.ts";
import { type RuntimeConfig, createRuntime } from "./create-runtime.ts";
import { invalidInput } from "../contract/errors.ts";
import { captionTask, usesCtc } from "../models/language-tasks.ts";
import { nearestName } from "../models/validation/nearest-name.ts";
import {
  type PipelineAliases,
  type PipelineCalls,
  type PipelineTask,
  languageTasks,
  pipelineAliases,
  pipelineFactories,
  tasksWithoutDefault,
} from "./pipelines.ts";
import type { Runtime } from "./runtime.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { Tokenizer } from "../tokenizers/index.ts";
import type { ModelOptions } from "../runtime/options/runtime-settings.ts";

/** Options of `pipeline`: options of loading the model, and settings of the runtime that is created for it. */
export interface PipelineOptions extends ModelOptions, Omit<RuntimeConfig, keyof ModelOptions> {}

/** Name of a task, or an alias of one. */
export type PipelineName = PipelineTask | keyof PipelineAliases;

/** The task of a name or an alias. */
export type NamedTask<Name extends PipelineName> = Name extends keyof PipelineAliases
  ? PipelineAliases[Name]
  : Extract<Name, PipelineTask>;

/** A function that runs one task on one model. */
export type Pipeline<Task extends PipelineTask> = PipelineCalls[Task] & {
  readonly task: Task;
  readonly model: ModelHandle;
  /** The model's tokenizer; undefined if it has none. */
  readonly tokenizer: Tokenizer | undefined;
  /** Unloads the model and disposes its runtime. */
  dispose(): Promise<void>;
};

/**
 * Loads a model for one task in a runtime of its own and returns a function that runs it. Throws INPUT_INVALID for an unknown task, and errors of loading.
 */
export async function pipeline<Name extends PipelineName>(
  task: Name,
  model?: string,
  options: PipelineOptions = {},
): Promise<Pipeline<NamedTask<Name>>> {
  const known = taskNamed(task);
  if (model === undefined && (languageTasks.has(known) || tasksWithoutDefault.has(known)))
    throw invalidInput(`${known} needs a model`, `pipeline("${known}", "hf:owner/name")`);
  const { signal, variant, ...config } = options;
  const runtime = await createRuntime(config);
  try {
    const language =
      (known === captionTask && (await isOfOneFile(runtime, model, variant))) ||
      (languageTasks.has(known) && !(known === "automatic-speech-recognition" && (await isCtc(runtime, model, variant))));
    const handle = await runtime.load(model ?? "builtin", {
      ...omitUndefined({ signal, variant }),
      ...(language ? { kind: "language" as const } : {}),
    });
    const tokenizer = handle.manifest.text === undefined ? undefined : await runtime.tokenizer(handle);
    const call: object = await pipelineFactories[known](runtime, handle);
    const pipe = Object.assign(call, { task: known, model: handle, tokenizer, dispose: () => runtime.dispose() });
    return pipe as Pipeline<NamedTask<Name>>; // TypeScript cannot relate the entry of a table to the name it is looked up by
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
}

function taskNamed<Name extends PipelineName>(given: Name): NamedTask<Name> {
  const aliases: ReadonlyMap<string, PipelineTask> = new Map(Object.entries(pipelineAliases));
  const name: string = aliases.get(given) ?? given;
  if (Object.hasOwn(pipelineFactories, name)) return name as NamedTask<Name>;
  const names = Object.keys(pipelineFactories);
  const guess = nearestName(name, names);
  throw invalidInput(
    `there is no pipeline for the task ${JSON.stringify(given)}`,
    guess === undefined ? `choose one of ${names.join(", ")}` : `did you mean "${guess}"?`,
  );
}

/** Whether a model has no graphs of its own, and is loaded as a language model with an encoder of pictures. */
async function isOfOneFile(runtime: Runtime, model: string | undefined, variant: string | undefined): Promise<boolean> {
  if (model === undefined) return false;
  const { variants } = await runtime.manifest(model, omitUndefined({ variant }));
  return variants.every(({ format }) => format !== "onnx");
}

/** Whether a model transcribes by CTC: it is loaded as a graph, and not as a language model. */
async function isCtc(runtime: Runtime, model: string | undefined, variant: string | undefined): Promise<boolean> {
  if (model === undefined) return false;
  return usesCtc(await runtime.manifest(model, omitUndefined({ variant })));
}
