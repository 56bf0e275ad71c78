/** One pull under way: what it needs, and what it brings about. */
import type { StoreLayout } from "../store/layout.ts";
import type { PullMeter } from "./progress.ts";
import type { Network } from "./request.ts";

/** What a pull brought about. */
export interface PullReport {
  /** Fetches the model again. */
  readonly reference: string;
  /** Its name in the store. */
  readonly name: string;
  /** The variant that was wanted; left out where there is only the whole. */
  readonly variant?: string;
  /** Every variant the store has of it now. */
  readonly variants: readonly string[];
  readonly tasks: readonly string[];
  /** Of a model from the hub. */
  readonly commit?: string;
  readonly files: number;
  /** Bytes of all its files. */
  readonly bytes: number;
  /** Bytes that came over the network this time. */
  readonly fetchedBytes: number;
  readonly milliseconds: number;
  /** Absolute path of the folder with its files. */
  readonly folder: string;
  /** Why this version cannot run the model, where that is known from its files. */
  readonly unsupported?: string;
}

/** The rest of what one pull needs. */
export interface PullSession {
  readonly layout: StoreLayout;
  /** Undefined: offline. */
  readonly network: Network | undefined;
  readonly cacheFolder: string;
  readonly endpoint: string;
  readonly meter: PullMeter;
  readonly signal: AbortSignal | undefined;
  readonly variant: string | undefined;
  readonly started: number;
}
