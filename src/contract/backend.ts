/**
 * The contract between Inferyard and an engine, as types only. Each member states what it promises, and `inferyard/testing` has
 * a suite that checks the promises. `docs/guide/writing-a-backend.md` begins with a complete backend.
 *
 * A backend may import the files of this folder and its own.
 */
import type { Availability, ProbeOptions, Requirement } from "./availability.ts";
import type { CacheEstimate, Capabilities } from "./capabilities.ts";
import type { Device } from "./device.ts";
import type { LanguageModel, LanguageModelFiles } from "./language-model.ts";
import type { LoadLimits, LoadSettings } from "./load-settings.ts";
import type { ModelFiles } from "./model-files.ts";
import type { TensorModel } from "./tensor-model.ts";

export type * from "./availability.ts";
export type * from "./capabilities.ts";
export type * from "./device.ts";
export type * from "./language-model.ts";
export type * from "./load-settings.ts";
export type * from "./machine-facts.ts";
export type * from "./model-files.ts";
export type * from "./tensor-model.ts";

/** An engine. Creating one must be cheap: no import of its library, no file access, no device access. */
export interface Backend {
  /** Lower-case word, unique in a runtime. The first part of a target. */
  readonly name: string;
  readonly contractVersion: 1;
  /**
   * Packages and libraries that it needs, shown by `inferyard backends` and in errors. If its probe reports the version of one
   * of them (`Availability.library`) and that is outside the required range, the backend counts as absent. Default: none.
   */
  readonly requires?: readonly Requirement[];
  /** How other threads create the backend. Default: it runs on the calling thread only. */
  readonly entry?: BackendEntry;

  /**
   * Reports whether the library and its devices are available on this machine. Never throws for absence, which is a result, and
   * writes nothing to stdout.
   */
  probe(options: ProbeOptions): Promise<Availability>;

  /** Capabilities on a device: plain data, constant, obtained without loading anything. What is not listed is not supported. */
  capabilities(device: Device): Capabilities;

  /**
   * Loads a model on exactly this device. Throws an InferyardError: MODEL_INVALID for a damaged file, MODEL_UNSUPPORTED for one
   * that it cannot run, otherwise BACKEND_UNAVAILABLE, LOAD_FAILED or OUT_OF_MEMORY. Each of these makes selection try the next
   * candidate.
   */
  load(model: ModelFiles, device: Device, options: LoadOptions): Promise<TensorModel>;

  /** Loads a language model, with the errors of `load`. Default: the backend decodes no tokens. */
  loadLanguage?(model: LanguageModelFiles, device: Device, options: LoadOptions): Promise<LanguageModel>;

  /**
   * Ways to read the files of a model, in order, where they leave a choice. The first with which the model's known answers hold is taken; a model without known
   * answers is loaded without such settings. Not called for language models. Default: the files leave no choice.
   */
  alternatives?(model: ModelFiles, settings: LoadSettings): Promise<readonly LoadAlternative[]>;

  /**
   * Memory of a language model's cache, from facts of its files and without loading anything. Selection refuses a model whose cache does not fit into the
   * memory beside its weights. Default: unknown, and nothing is refused.
   */
  estimateCache?(model: LanguageModelFiles, device: Device, settings: LoadSettings): CacheEstimate | undefined;

  /** Frees the resources of the backend itself. Called once, after all its models are disposed. Default: nothing. */
  dispose?(): Promise<void>;
}

/**
 * How another thread or process creates the backend: it imports `module` and calls its export `export` with `options`. A
 * backend without an entry runs on the calling thread only.
 */
export interface BackendEntry {
  /**
   * A `file:` URL, usually `import.meta.url` of the module that exports the function; in a browser, a URL that its worker can
   * import.
   */
  readonly module: string;
  /** Name of an exported function `(options?) => Backend`. */
  readonly export: string;
  /** Argument of the function. Must survive structured clone. */
  readonly options?: unknown;
}

/** A way to read the files of a model. */
export interface LoadAlternative {
  /** As a noun phrase, for the evidence. */
  readonly name: string;
  /** The members of `LoadSettings.engine` that select it. */
  readonly engine: Readonly<Record<string, unknown>>;
}

/** Options of `Backend.load`. */
export interface LoadOptions extends LoadSettings, LoadLimits {
  /** If aborted, the backend stops as soon as possible, frees everything and throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** A model on one device. A union, so that more kinds can be added. */
export type LoadedModel = TensorModel | LanguageModel;
