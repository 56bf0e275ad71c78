/** Fetching a model into the store: what is there already is kept, what is missing is fetched, and the model appears when it is whole. */
import { mkdir } from "node:fs/promises";
import { InferyardError } from "../../errors.ts";
import { isRemote, parseHubName, parseRemote } from "../reference/remote-reference.ts";
import { withDiskErrors } from "../store/disk.ts";
import { type StoreLayout, storeLayout } from "../store/layout.ts";
import { findDamaged, findModel } from "../store/lookup.ts";
import { withRunningPull } from "../store/running-pulls.ts";
import { type PullProgress, PullMeter } from "./progress.ts";
import { proxiedFetch } from "./proxy.ts";
import type { PullReport, PullSession } from "./pull-session.ts";
import { pullRepository } from "./pull-repository.ts";
import { pullFile } from "./pull-file.ts";
import { type RetryTiming, defaultTiming } from "./retry.ts";
import { type Environment, readHubConfig } from "./hub-config.ts";

export interface PullOptions {
  /** Which weights, where the reference names none. Default: those a load would take first. */
  readonly variant?: string;
  /** Fetch nothing: take what the store and Hugging Face's cache have. Default: false, unless HF_HUB_OFFLINE is set. */
  readonly offline?: boolean;
  readonly onProgress?: (progress: PullProgress) => void;
  /** Aborted: what arrived stays, and the next pull goes on from there. */
  readonly signal?: AbortSignal;
}

/** What a pull works with. */
export interface PullContext {
  readonly layout: StoreLayout;
  readonly environment: Environment;
  readonly timing: RetryTiming;
}

export function pullContext(
  folder?: string,
  environment: Environment = process.env,
  timing: RetryTiming = defaultTiming,
): PullContext {
  return { layout: storeLayout(folder), environment, timing };
}

/** `text` is `hf:...`, an address with its digest, or the name of a model in the store; throws INPUT_INVALID for anything else. */
export async function pull(text: string, options: PullOptions, context: PullContext): Promise<PullReport> {
  const started = performance.now();
  const reference = isRemote(text) ? text : await referenceOf(text, context.layout);
  const remote = parseRemote(reference);
  if (
    remote.kind === "hub" &&
    remote.variant !== undefined &&
    options.variant !== undefined &&
    options.variant !== remote.variant
  ) {
    throw new InferyardError(
      "INPUT_INVALID",
      `${reference} names one variant, and "${options.variant}" was asked for beside it`,
      {
        remedy: "name the variant once",
      },
    );
  }
  const { layout, environment, timing } = context;
  const { endpoint, token, cacheFolder, offline } = await readHubConfig(environment, options.offline);
  const meter = new PullMeter(reference, options.onProgress);
  const network = offline
    ? undefined
    : { fetch: await proxiedFetch(environment), endpoint, timing, ...(token === undefined ? {} : { token }) };
  const { signal } = options;
  const variant = remote.kind === "hub" ? (remote.variant ?? options.variant) : undefined;
  const pulling: PullSession = { layout, network, cacheFolder, endpoint, meter, signal, variant, started };
  await withDiskErrors(layout.root, () => mkdir(layout.root, { recursive: true }));
  return await withRunningPull(layout, async () => {
    meter.report("listing");
    try {
      const report = remote.kind === "hub" ? await pullRepository(remote, pulling) : await pullFile(remote, pulling);
      meter.report("done");
      return report;
    } finally {
      meter.cancelPendingReport();
    }
  });
}

/** The reference of a model that is in the store already: pulling it again looks for what is new. */
async function referenceOf(text: string, layout: StoreLayout): Promise<string> {
  // Of a damaged record the name alone is believed: it is that of the file.
  const damaged = await findDamaged(layout, text);
  if (damaged !== undefined && parseHubName(text) !== undefined) return `hf:${text}`;
  const found = await findModel(layout, text);
  if (found !== undefined) return `${found.record.reference}${found.variant === undefined ? "" : `:${found.variant}`}`;
  const isName = parseHubName(text) !== undefined && text.includes("/");
  throw new InferyardError(
    "INPUT_INVALID",
    `"${text}" is neither in the store nor a reference to something that can be fetched`,
    {
      remedy: isName ? `write hf:${text}` : "write hf:owner/name, or the address of a file with #sha256:<digest> behind it",
    },
  );
}
