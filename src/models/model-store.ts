/** The store of models on this machine: listing, fetching, removing and checking models. */
import type { PullOptions } from "./hub/pull.ts";
import type { PullReport } from "./hub/pull-session.ts";
import type { HubEnvironment } from "./hub/hub-config.ts";
import type { RetryTiming } from "./hub/retry.ts";
import type { CheckOptions, CheckReport } from "./store/check.ts";
import { storeLayout } from "./store/layout.ts";
import { findModel } from "./store/lookup.ts";
import { type StoredRecords, type StoredModel, readIntactRecords, readAllRecords } from "./store/record.ts";
import type { PruneReport, RemoveReport } from "./store/remove.ts";

export type { PullProgress } from "./hub/progress.ts";
export type { PullOptions } from "./hub/pull.ts";
export type { PullReport } from "./hub/pull-session.ts";
export type { CheckOptions, CheckReport, Damage } from "./store/check.ts";
export type { StoredRecords } from "./store/record.ts";
export type { StoredModel } from "./store/record.ts";
export type { StoredFile, StoredVariant } from "./store/model-record.ts";
export type { PruneReport, RemoveReport } from "./store/remove.ts";

/** Options of `createStore`. */
export interface StoreOptions {
  /** Path of the data folder. Default: INFERYARD_HOME, else `inferyard` in the platform's data folder. */
  readonly folder?: string;
  /** Environment variables (HF_TOKEN, HF_ENDPOINT, HTTPS_PROXY, ...). Default: the variables of the process. */
  readonly environment?: HubEnvironment;
}

/**
 * The store of fetched models on this machine. A model is named by `hf:owner/name`, by a URL with a digest, or by its name in the
 * store. Every method reads the state from the disk.
 */
export interface ModelStore {
  /** Absolute path of the data folder. */
  readonly folder: string;
  /**
   * Fetches a model, or the files of it that are missing or damaged. Throws INPUT_INVALID, MODEL_NOT_FOUND, MODEL_UNSUPPORTED,
   * MODEL_INVALID, ACCESS_DENIED, DISK_FULL, OUTPUT_FAILED, DOWNLOAD_FAILED, ABORTED.
   */
  pull(reference: string, options?: PullOptions): Promise<PullReport>;
  /** Every model, sorted by name, except models whose record is damaged. */
  list(): Promise<readonly StoredModel[]>;
  /** Every model, and the records that are damaged. `pull` replaces a damaged record. */
  inventory(): Promise<StoredRecords>;
  /** A model, or undefined if it is not in the store. Throws MODEL_NOT_FOUND if the name is ambiguous. */
  find(model: string): Promise<StoredModel | undefined>;
  /** Removes a model, and the files that no other model has. Throws MODEL_NOT_FOUND if there is no such model. */
  remove(model: string): Promise<RemoveReport>;
  /** Removes files that no model needs, and the leftovers of pulls that were killed. Safe to run during pulls. */
  prune(): Promise<PruneReport>;
  /** Reads every file of a model, or of all models, and compares it with its digest. */
  check(model?: string, options?: CheckOptions): Promise<CheckReport>;
}

/** Opens the store of fetched models. Nothing is written; its folder is created when a model is pulled. */
export function createStore(options: StoreOptions = {}): ModelStore {
  return storeWith(options);
}

/** Opens a store as `createStore` does, with other times for retries and stalled connections. Used by tests. */
export function storeWith({ folder, environment }: StoreOptions, timing?: RetryTiming): ModelStore {
  const layout = storeLayout(folder);
  return {
    folder: layout.root,
    pull: async (reference, pullOptions = {}) => {
      const { pull, pullContext } = await import("./hub/pull.ts");
      return await pull(reference, pullOptions, pullContext(layout.root, environment, timing));
    },
    list: () => readIntactRecords(layout),
    inventory: () => readAllRecords(layout),
    find: async (model) => (await findModel(layout, model))?.record,
    remove: async (model) => {
      const { removeModel } = await import("./store/remove.ts");
      return await removeModel(layout, model);
    },
    prune: async () => {
      const { prune } = await import("./store/remove.ts");
      return await prune(layout);
    },
    check: async (model, checkOptions = {}) => {
      const { checkModels } = await import("./store/check.ts");
      return await checkModels(layout, model, checkOptions);
    },
  };
}
