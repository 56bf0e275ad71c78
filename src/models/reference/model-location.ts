/** A resolved model reference, the location of its model on this machine, and the options of both steps. */
import type { Folder } from "../model-folder.ts";

/**
 * A resolved model reference: the text that a user wrote, and the model that it refers to. It is resolved once per request and passed on. It is not kept, since
 * a name in the store may refer to another model later.
 */
export interface ModelReference {
  /** The reference as the user wrote it. Messages and events name the model by it. */
  readonly text: string;
  /**
   * Equal for all spellings of the same model: the absolute path of a local model, the reference without its variant of a remote one. Settings of one model are
   * found by it.
   */
  readonly canonical: string;
  /** Finds the model's files. Throws MODEL_NOT_FOUND if the store lacks the model or variant, and with `options.fetch` errors of fetching. */
  locate(options?: LocateOptions): Promise<ModelLocation>;
}

/** A model's folder, or its file where the model is a single file or package. */
export interface ModelLocation extends Folder {
  /** Short name of the model for people. Default: the name of the folder. */
  readonly name?: string;
  /** The variant that the reference names. */
  readonly variant?: string;
}

/** Options for resolving a model reference to a location. */
export interface ResolveOptions {
  /** Path of the data folder, which holds the store. Default: INFERYARD_HOME, else the platform's data folder. */
  readonly dataFolder?: string;
}

/** Options for locating the model of a resolved reference. */
export interface LocateOptions {
  /** A variant that must be in the store if the reference names none. */
  readonly variant?: string;
  /** Fetches a model or variant that the store does not have. Absent: a missing one is MODEL_NOT_FOUND. */
  readonly fetch?: (reference: string) => Promise<void>;
}
