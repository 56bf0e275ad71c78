/** One form of goldens: how it is recognised, and how a model is held against it. */
import type { ModelHandle, Runtime, Tensor, TensorMap, Tokenizer } from "inferyard";
import type { Checks } from "./checks.ts";

/** A loaded model beside its goldens. */
export interface Subject {
  readonly runtime: Runtime;
  /** The folder's model, or the first of its graphs. */
  readonly model: ModelHandle;
  /** The graphs or language files that the comparison names, in that order. */
  readonly graphs: readonly ModelHandle[];
  readonly folder: string;
  tokenizer(): Promise<Tokenizer>;
}

export interface Format {
  /** What the goldens call themselves (`format`). Goldens without a name are recognised by their structure. */
  readonly name: string;
  /** Reads goldens.json. Throws Error with the place and the problem where it is not of this form. */
  read(goldens: unknown): Comparison | FileComparison;
}

/** Goldens as they were read, ready to hold a model against them. */
export interface Comparison {
  /** Files of the folder that are loaded in place of the folder's one model. */
  readonly graphs?: readonly string[];
  /** Files of the folder that are loaded as language models, in place of the folder's one model. */
  readonly languageFiles?: readonly string[];
  /** Where the model runs if no target is asked for. Default: onnx:cpu and wasm. */
  readonly targets?: readonly string[];
  compare(subject: Subject, checks: Checks): Promise<void>;
}

/** Goldens of files that are read without an engine. */
export interface FileComparison {
  compareFiles(folder: string, checks: Checks): Promise<void>;
}

/** An encoder and a decoder. */
export function pairOf([encoder, decoder]: Subject["graphs"]): readonly [ModelHandle, ModelHandle] {
  if (encoder === undefined || decoder === undefined) throw new Error("two graphs are needed");
  return [encoder, decoder];
}

export function outputOf(outputs: TensorMap, name: string): Tensor {
  const tensor = outputs[name];
  if (tensor === undefined) throw new Error(`the model gives no "${name}"`);
  return tensor;
}
