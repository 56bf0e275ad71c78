/** What a reference means: where a model lies, and how that is found out. */
import type { Folder } from "../model-folder.ts";

/** Where a model lies. */
export interface ModelLocation extends Folder {
  /** What people call it; left out, the folder's name. */
  readonly name?: string;
  /** The variant the reference names. */
  readonly variant?: string;
}

export interface ResolveOptions {
  /** Where the store is. Default: INFERYARD_HOME, else the platform's data folder. */
  readonly dataFolder?: string;
  /** A variant that must be in the store, where the reference itself names none. */
  readonly variant?: string;
  /** Fetches what the store does not have. Left out: nothing is fetched, and that is MODEL_NOT_FOUND. */
  readonly fetch?: (reference: string) => Promise<void>;
}
