/** Types of `reloadLibrary`: its options, and what it reports. */
import type { LibraryFile } from "../../contract/reloading.ts";

/** Options of `reloadLibrary`. */
export interface ReloadOptions {
  /** Name of the backend whose library is replaced. Default: "library". */
  readonly backend?: string;
  /**
   * Largest difference of a logit from the old library's, as a part of the range of the old library's logits at that position. Builds for different processors
   * round differently. Default: 0.02.
   */
  readonly tolerance?: number;
  /** If aborted before the switch, the old library stays, and `reloadLibrary` throws ABORTED. */
  readonly signal?: AbortSignal;
}

/** Result of a reload. */
export interface ReloadReport {
  readonly backend: string;
  /** The library before. null if there was none. */
  readonly before: LibraryFile | null;
  readonly after: LibraryFile;
  /** Results of the new library on each device when it was validated, as sentences. */
  readonly validation: readonly string[];
  /** The models that were loaded with the new library as well, and how their answers compare. */
  readonly models: readonly ReloadedModel[];
  readonly milliseconds: {
    /** Validating the library in a child process. */
    readonly validation: number;
    /** Loading and comparing the models. */
    readonly models: number;
    /** From the switch until the last request on the old library had finished and its models were freed. */
    readonly drain: number;
    readonly total: number;
  };
}

/** A model that moved to the new library. */
export interface ReloadedModel {
  readonly reference: string;
  readonly target: string;
  /** Ids of the decisions before and after. */
  readonly decisions: { readonly before: string; readonly after: string };
  readonly comparison: ModelComparison;
}

/** Comparison of two instances of a language model on the same prompts. */
export interface ModelComparison {
  readonly prompts: number;
  /** Positions whose logits were compared. */
  readonly positions: number;
  /** Positions at which another token has the highest logit, with a difference to the second highest below the tolerance. */
  readonly ties: number;
  /** Largest difference of a logit, as a part of the range of the old library's logits at that position. */
  readonly maxDifference: number;
  readonly tolerance: number;
}
