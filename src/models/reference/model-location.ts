/** The location of a model on this machine, and the options for resolving a reference to it. */
import type { Folder } from "../model-folder.ts";

/** The location that a model reference names: a folder, or the file of a model that is a single file or package. */
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
  /** A variant that must be in the store if the reference names none. */
  readonly variant?: string;
  /** Fetches a model or variant that the store does not have. Absent: a missing one is MODEL_NOT_FOUND. */
  readonly fetch?: (reference: string) => Promise<void>;
}
