/** The store of models on this machine, for programs: what is there, fetching, removing, and looking after it. */
import type { PullOptions } from "./hub/pull.ts";
import type { PullReport } from "./hub/pull-session.ts";
import type { Environment } from "./hub/hub-config.ts";
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
export type { StoredFile, StoredVariant, StoredModel } from "./store/record.ts";
export type { PruneReport, RemoveReport } from "./store/remove.ts";

export interface StoreOptions {
  /** Default: INFERYARD_HOME, else `inferyard` in the platform's data folder. */
  readonly folder?: string;
  /** Where HF_TOKEN, HF_ENDPOINT, HTTPS_PROXY and their like are read. Default: the environment of the process. */
  readonly environment?: Environment;
}

/** Models named `hf:owner/name`, by an address with its digest, or by their name in the store. Every method reads the disk anew. */
export interface ModelStore {
  /** Absolute path. */
  readonly folder: string;
  /**
   * Fetches a model, or what is missing of it, and checks what is there. Throws INPUT_INVALID, MODEL_NOT_FOUND, MODEL_UNSUPPORTED,
   * MODEL_INVALID, ACCESS_DENIED, DISK_FULL, OUTPUT_FAILED, DOWNLOAD_FAILED, ABORTED.
   */
  pull(reference: string, options?: PullOptions): Promise<PullReport>;
  /** Every model, by name; those whose record is damaged are left out. */
  list(): Promise<readonly StoredModel[]>;
  /** The same, and the records that are damaged, which `pull` writes anew. */
  inventory(): Promise<StoredRecords>;
  /** Undefined where the store has none of it; MODEL_NOT_FOUND where several could be meant. */
  find(model: string): Promise<StoredModel | undefined>;
  /** Removes a model and the content no other model has; MODEL_NOT_FOUND where there is none. */
  remove(model: string): Promise<RemoveReport>;
  /** Removes what no model needs, and what was left by pulls that were killed. Safe beside running pulls. */
  prune(): Promise<PruneReport>;
  /** Reads every file of a model, or of all, and holds it against its digest. */
  check(model?: string, options?: CheckOptions): Promise<CheckReport>;
}

/** Nothing is made on the disk until something is pulled. */
export function createStore(options: StoreOptions = {}): ModelStore {
  return storeWith(options);
}

/** For tests: with times of their own for retries and stalls. */
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
