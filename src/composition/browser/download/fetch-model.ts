/**
 * Downloads a model into the cache. A folder has no listing over HTTP, so the files that a model may have are requested by
 * name, then those that they refer to, and finally one file of weights.
 */
import { omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { PullMeter } from "../../../models/hub/progress.ts";
import { getExternalFiles } from "../../../formats/onnx/external-files.ts";
import { readOnnxOutline } from "../../../formats/onnx/onnx-outline.ts";
import { escapesFolder } from "../../../models/model-folder.ts";
import { sentenceConfigFiles } from "../../../models/huggingface/token-limit.ts";
import { getFormat } from "../../../models/manifest/weights.ts";
import type { FetchOptions } from "../../../runtime/platform.ts";
import { basename, dirname, join } from "../../../platform/browser/paths.ts";
import { type FileRequest, fetchFile } from "./fetch-file.ts";
import { builtinPath, parseReference } from "../reference.ts";
import { type ManifestFiles, readManifestFiles } from "./manifest-files.ts";
import { type WeightsCandidate, graphPairs, weightsCandidates } from "./weight-candidates.ts";

/** Files requested from a model's folder, and from the subfolder of its transformer module if modules.json names one. */
const folderFiles = [
  "inferyard.json",
  "model_manifest.json",
  "metadata.json",
  "config.json",
  "gliner_config.json",
  "generation_config.json",
  "preprocessor_config.json",
  "modules.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "config_sentence_transformers.json",
  "README.md",
];
const innerFiles = ["config.json", "gliner_config.json", "tokenizer.json", "tokenizer_config.json"];

type Fetched = Awaited<ReturnType<typeof fetchFile>>;

/** Fields shared by all files of one load. */
interface Load {
  readonly reference: string;
  /** URL of the folder that contains `builtin`, with a slash at the end. */
  readonly assets: string;
  readonly options: FetchOptions;
  readonly meter: PullMeter;
  /** Once a server has not responded, cached files are used without revalidation. */
  readonly server: FileRequest["server"];
}

/**
 * Downloads the files of a model that are missing from the browser's cache or have changed. Throws ABORTED, ACCESS_DENIED,
 * DISK_FULL, DOWNLOAD_FAILED or MODEL_NOT_FOUND.
 */
export async function fetchModel(assets: string, reference: string, options: FetchOptions): Promise<void> {
  const place = parseReference(reference);
  const meter = new PullMeter(reference, options.onProgress);
  const load: Load = { reference, assets, options, meter, server: { silent: false } };
  try {
    if (getFormat(place.path) === undefined) await fetchFolder(load, place.path, place.variant ?? options.variant);
    else await fetchSingleFile(load, place.path);
    if (meter.fetched > 0) meter.report("done");
  } finally {
    meter.cancelPendingReport();
  }
}

async function fetchFolder(load: Load, path: string, variant: string | undefined): Promise<void> {
  const folder = new RemoteFolder(load, path);
  const stated = await folder.describe();
  await folder.fetchWeights([...weightsCandidates(stated, variant), ...graphPairs(stated, variant)], variant);
}

/** Fetches a model given by the URL of its weights. Its configuration is in the same folder, or in the parent of a folder named `onnx`. */
async function fetchSingleFile(load: Load, path: string): Promise<void> {
  const beside = new RemoteFolder(load, dirname(path));
  await beside.describe();
  if (basename(beside.path) === "onnx") await new RemoteFolder(load, dirname(beside.path)).describe();
  await beside.fetchWeights([{ file: basename(path) }], undefined);
}

class RemoteFolder {
  readonly #load: Load;
  readonly #source: string;
  readonly #asked = new Map<string, Promise<Fetched>>();
  readonly path: string;

  constructor(load: Load, path: string) {
    this.#load = load;
    this.#source = path === builtinPath ? new URL("builtin", load.assets).href : path;
    this.path = path;
  }

  /** Fetches everything but the weights. */
  async describe(): Promise<ManifestFiles> {
    await this.#fetchAll(folderFiles);
    const stated = await readManifestFiles({ path: this.path, displayName: this.#load.reference });
    const { kind, inner, others } = stated;
    await this.#fetchAll([...innerFiles.map((name) => join(inner, name)), ...others]);
    // At most one of these exists. The readers of manifests use the same order.
    const configs = kind === "transformer" ? sentenceConfigFiles : [];
    for (const name of configs) if ((await this.#fetch(join(inner, name))) === "kept") break;
    return stated;
  }

  /** Fetches the first candidate that exists, with the graphs that belong to it and the files of their external tensors. */
  async fetchWeights(wanted: readonly WeightsCandidate[], variant: string | undefined): Promise<void> {
    for (const { file, stated = {}, others = [] } of wanted) {
      if ((await this.#fetch(file, stated)) !== "kept") continue;
      await this.#fetchBeside(file);
      for (const other of others) if ((await this.#fetch(other, {})) === "kept") await this.#fetchBeside(other);
      return;
    }
    const answers = await Promise.all(this.#asked.values());
    if (answers.includes("refused")) throw denied(this.#load.reference);
    throw missing(this.#load, wanted, variant);
  }

  async #fetchBeside(file: string): Promise<void> {
    if (getFormat(file) !== "onnx") return;
    const outline = await readOnnxOutline(join(this.path, file), `${this.#load.reference} ${file}`);
    for (const name of getExternalFiles(outline).keys()) await this.#fetch(join(dirname(file), name), {});
  }

  async #fetchAll(files: readonly string[]): Promise<void> {
    await Promise.all(files.map((file) => this.#fetch(file)));
  }

  /**
   * Fetches each file once. `stated`: size and digest of weights from a manifest. A name outside of the folder is not requested; its
   * reader reports the error.
   */
  #fetch(file: string, stated?: NonNullable<FileRequest["stated"]>): Promise<Fetched> {
    if (escapesFolder(file)) return Promise.resolve("absent");
    const { meter, server, options } = this.#load;
    const { offline = false, signal } = options;
    const asked =
      this.#asked.get(file) ??
      fetchFile({
        file,
        source: join(this.#source, file),
        path: join(this.path, file),
        server,
        meter,
        offline,
        isLast: stated !== undefined,
        ...omitUndefined({ stated, signal }),
      });
    this.#asked.set(file, asked);
    return asked;
  }
}

function denied(reference: string): InferyardError {
  return new InferyardError("ACCESS_DENIED", `${reference} may not be read without permission (401 or 403)`, {
    remedy: "check the address; a page has no token to give, so serve such a model from your own host",
  });
}

function missing({ reference, options }: Load, wanted: readonly WeightsCandidate[], variant: string | undefined): InferyardError {
  const files = wanted.map(({ file }) => file);
  if (options.offline === true) {
    return new InferyardError("MODEL_NOT_FOUND", `${reference} is not in this browser's cache, and nothing is fetched offline`, {
      remedy: "load it once without `offline`",
    });
  }
  const what = variant === undefined ? "no weights a browser can run" : `no variant "${variant}"`;
  const remedy =
    files.length === 0
      ? "name a variant its manifest has, or leave it out"
      : `put one of these there: ${files.slice(0, 4).join(", ")}${files.length > 4 ? ", …" : ""}`;
  return new InferyardError("MODEL_NOT_FOUND", `${reference} has ${what}`, { remedy, data: { files } });
}
