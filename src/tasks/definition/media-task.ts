/** The definition of a task on pictures or sound: it runs on the graphs of a model and on other files of its folder. */
import type { ByteBudget } from "../../concurrency/byte-budget.ts";
import type { LanguageModel } from "../../contract/language-model.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { JsonObject } from "../../models/model-folder.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import type { Option } from "../../runtime/options/option.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import type { TaskDescription } from "./task.ts";

/** A loaded graph: named tensors in, named tensors out. */
export interface LoadedGraph {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  run: ModelHandle["run"];
}

/** A model of one or several graphs, which are loaded when they are first asked for and held until the call ends. */
export interface MediaModel {
  readonly manifest: Manifest;
  /** Whether the model has a file of this name without its ending, or with a suffix of its precision: "vision_model" for vision_model_fp16.onnx. */
  hasPart(part: string): boolean;
  /** Loads one of the model's files by its name without ending and suffix, as "vision_model". Throws MODEL_UNSUPPORTED if there is none. */
  part(name: string): Promise<LoadedGraph>;
  /** The graph that the request names, or the first that a backend runs. */
  main(): Promise<LoadedGraph>;
  /** The model as one that predicts tokens, for weights without a graph. Throws MODEL_UNSUPPORTED for a model that does not. */
  language(): Promise<LanguageModel>;
  /** Memory that decoded pictures of all calls share. */
  readonly pictureBudget: ByteBudget;
  /** The JSON object in a file of the model's folder. Undefined if there is none. */
  readJson(file: string): Promise<JsonObject | undefined>;
  /** Throws MODEL_UNSUPPORTED for a model without one. */
  tokenizer(): Promise<Tokenizer>;
}

/** The code of a task. */
export interface MediaTaskImplementation<Input, Options, Result> {
  /** All options of the task. Any other name is refused with INPUT_INVALID before the model is loaded. */
  readonly options: Readonly<Record<string, Option>>;
  /** Throws INPUT_INVALID for inputs and options that no model can obey, before one is loaded. Default: `run` makes all checks. */
  check?(input: Input, options: Options): void | Promise<void>;
  run(model: MediaModel, input: Input, options: Options): Promise<Result>;
}

/** A task: its description, and its code, which is imported on first use. */
export interface MediaTask<Input, Options, Result> extends TaskDescription {
  load(): Promise<MediaTaskImplementation<Input, Options, Result>>;
}
