/** Pulls models into the store: files that the store has are kept, missing ones are fetched, and the model is published when it is complete. */
import { mkdir } from "node:fs/promises";
import { omitUndefined } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import { isRemote, parseHubName, parseRemote, canonicalName, type UrlReference } from "../reference/remote-reference.ts";
import { withDiskErrors } from "../../storage/disk.ts";
import { type StoreLayout, storeLayout } from "../store/layout.ts";
import { findDamaged, findModel, recordName } from "../store/lookup.ts";
import { withRunningPull } from "../store/running-pulls.ts";
import { type PullProgress, PullMeter } from "./progress.ts";
import { proxiedFetch } from "./proxy.ts";
import type { PullReport, PullSession } from "./pull-session.ts";
import { pullRepository } from "./pull-repository.ts";
import { type RetryTiming, defaultTiming } from "./retry.ts";
import { type HubEnvironment, readHubConfig } from "./hub-config.ts";
import { obtainFile } from "./obtain-file.ts";
import { publish } from "./publish.ts";

/** Options of a pull, which fetches a model into the store. */
export interface PullOptions {
  /** The variant to fetch if the reference names none. Default: the one that a load would prefer. */
  readonly variant?: string;
  /** Whether nothing is fetched and only the store and Hugging Face's cache are used. Default: false, unless HF_HUB_OFFLINE is set. */
  readonly offline?: boolean;
  readonly onProgress?: (progress: PullProgress) => void;
  /** Aborts the pull. Transferred bytes are kept, and the next pull continues from there. */
  readonly signal?: AbortSignal;
}

/** The store, environment variables and retry times that a pull uses. */
export interface PullContext {
  readonly layout: StoreLayout;
  readonly environment: HubEnvironment;
  readonly timing: RetryTiming;
}

/** The context of a pull with its defaults: the platform's data folder, the environment of the process, and `defaultTiming`. */
export function pullContext(
  folder?: string,
  environment: HubEnvironment = process.env,
  timing: RetryTiming = defaultTiming,
): PullContext {
  return { layout: storeLayout(folder), environment, timing };
}

/**
 * Pulls the model that `text` names: `hf:...`, a URL with a digest, or the name of a model in the store, which is then updated. Throws INPUT_INVALID for
 * anything else, and the errors of `ModelStore.pull`.
 */
export async function pull(text: string, options: PullOptions, context: PullContext): Promise<PullReport> {
  const started = performance.now();
  const reference = isRemote(text) ? text : await getReference(text, context.layout);
  const remote = parseRemote(reference);
  if (
    remote.kind === "hub" &&
    remote.variant !== undefined &&
    options.variant !== undefined &&
    options.variant !== remote.variant
  ) {
    throw invalidInput(
      `${reference} names one variant, and "${options.variant}" was asked for beside it`,
      "name the variant once",
    );
  }
  const { layout, environment, timing } = context;
  const { endpoint, token, cacheFolder, offline } = await readHubConfig(environment, options.offline);
  const meter = new PullMeter(reference, options.onProgress);
  const network = offline ? undefined : { fetch: await proxiedFetch(environment), endpoint, timing, ...omitUndefined({ token }) };
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

/** The reference of a model in the store: pulling it again fetches what is new. */
async function getReference(text: string, layout: StoreLayout): Promise<string> {
  // Of a damaged record only the name is trusted, which is that of its file.
  const damaged = await findDamaged(layout, text);
  if (damaged !== undefined && parseHubName(text) !== undefined) return `hf:${text}`;
  const found = await findModel(layout, text);
  if (found !== undefined) return `${found.record.reference}${found.variant === undefined ? "" : `:${found.variant}`}`;
  const isName = parseHubName(text) !== undefined && text.includes("/");
  throw invalidInput(
    `"${text}" is neither in the store nor a reference to something that can be fetched`,
    isName ? `write hf:${text}` : "write hf:owner/name, or the address of a file with #sha256:<digest> behind it",
  );
}

/**
 * Pulls the file of a URL reference into the store. Throws DOWNLOAD_FAILED if its digest is not the one in the reference, and otherwise the errors of
 * `ModelStore.pull`.
 */
async function pullFile(reference: UrlReference, pulling: PullSession): Promise<PullReport> {
  const { url, file, sha256 } = reference;
  const { layout, network, meter, signal } = pulling;
  const stored = await obtainFile({ path: file, sha256, url, what: url }, { layout, network, meter, signal });
  const publication = { name: recordName(reference), reference: canonicalName(reference), source: url };
  return await publish({ ...publication, variants: [], files: [stored] }, pulling);
}
