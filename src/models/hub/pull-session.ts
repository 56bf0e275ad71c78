/** The state and the result of one pull. */
import type { StoreLayout } from "../store/layout.ts";
import type { PullMeter } from "./progress.ts";
import type { Network } from "./request.ts";

/** The result of a pull: the model's entry in the store, and the amount transferred. */
export interface PullReport {
  /** The reference that fetches the model, without a variant. */
  readonly reference: string;
  /** Name of the model in the store. */
  readonly name: string;
  /** The variant that was asked for. Absent if none was. */
  readonly variant?: string;
  /** Names of all variants that the store has of the model. */
  readonly variants: readonly string[];
  /** Names of the Hugging Face tasks that the model serves. */
  readonly tasks: readonly string[];
  /** Commit of a model from the hub. */
  readonly commit?: string;
  /** Number of files of the model. */
  readonly files: number;
  /** Bytes of all its files. */
  readonly bytes: number;
  /** Bytes that this pull transferred over the network. */
  readonly fetchedBytes: number;
  /** Duration of the pull. */
  readonly milliseconds: number;
  /** Absolute path of the folder with the files. */
  readonly folder: string;
  /** Why this version cannot run the model. Absent if it can, according to the model's files. */
  readonly unsupported?: string;
}

/** State that the steps of one pull share: the store, the network, and the progress meter. */
export interface PullSession {
  readonly layout: StoreLayout;
  /** Access to the network; undefined if the pull is offline. */
  readonly network: Network | undefined;
  /** Folder of Hugging Face's cache. */
  readonly cacheFolder: string;
  /** URL of the hub. */
  readonly endpoint: string;
  readonly meter: PullMeter;
  readonly signal: AbortSignal | undefined;
  /** The variant that was asked for. */
  readonly variant: string | undefined;
  /** Start of the pull, by `performance.now()`. */
  readonly started: number;
}
