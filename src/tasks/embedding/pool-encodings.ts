/** Runs an encoder on token ids and reduces its output to one vector per text: pooling, post-pooling modules, truncation, normalization. */
import { requireFinite } from "../encoding/require-finite.ts";
import { InferyardError, quoteOption, invalidInput } from "../../contract/errors.ts";
import type { Manifest, VectorModule } from "../../models/manifest.ts";
import type { TokenRange } from "../../hosts/output-reduction.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import type { EmbedSettings } from "./embed-options.ts";
import type { TaskTokenizer } from "../encoding/encode-texts.ts";
import { type VectorOutput, vectorOutput } from "../encoding/encoder-outputs.ts";
import { type Encoder, type EncoderRunOptions, runEncodings } from "../batching/run-encodings.ts";
import { type TokenRows, allRows, normalizeRows, poolingFunctions } from "../encoding/pooling.ts";
import type { PostPooling } from "../encoding/post-pooling.ts";

/**
 * Runs the encoder and calls `take` with the vector of each encoding (with pooling "none" its token vectors, row-major), before truncation and
 * normalization. `encodings[i].text` is the index of the text in error messages; default i. Returns the length of one vector; for an empty list
 * it is the length the model declares, 0 if it declares none. Throws POOLING_UNKNOWN if a pooling is needed and none is stated.
 */
export async function poolEncodings(
  encoder: Encoder<TaskTokenizer>,
  encodings: readonly (TokenIds & { readonly text?: number })[],
  settings: EmbedSettings,
  signal: AbortSignal | undefined,
  take: (vector: Float32Array, index: number) => void,
): Promise<{ dimensions: number }> {
  const output = embeddingOutput(encoder, settings);
  // A graph that pools by itself was exported with its post-pooling modules.
  const isPooledHere = output.level === "token" && settings.pooling !== "none";
  const isForTokens = encoder.manifest.text?.lateInteraction !== undefined;
  const postPooling = isPooledHere && !isForTokens ? await getPostPooling(encoder) : undefined;
  const means = output.level === "token" && settings.pooling === "mean";
  const run = {
    output: output.name,
    ...(means ? computeMeans(settings) : {}),
    batchTokens: settings.batchTokens,
    signal,
  };
  let seen: number | undefined;
  await runEncodings(encoder, encodings, run, ({ index, encoding, data, offset, shape }) => {
    const dimensions = shape.at(-1) ?? 0;
    seen = dimensions;
    if (output.level === "sentence") refuseUnfinished(encoder.manifest, dimensions);
    const vector =
      output.level === "sentence" || means
        ? data.slice(offset, offset + dimensions)
        : pool(encoding, settings, { data, offset, dimensions, first: 0, end: encoding.ids.length });
    requireFinite(vector, encoding.text ?? index);
    take(postPooling === undefined ? vector : postPooling.apply(vector), index);
  });
  return { dimensions: postPooling?.dimensions ?? seen ?? vectorLength(encoder, output) };
}

/**
 * The output from which embeddings are computed. Throws MODEL_UNSUPPORTED if there is none, and POOLING_UNKNOWN if the output needs a pooling and the
 * model states none.
 */
export function embeddingOutput(
  encoder: Pick<Encoder, "outputs" | "manifest">,
  { pooling }: Pick<EmbedSettings, "pooling">,
): VectorOutput {
  const output = vectorOutput(encoder, pooling);
  if (output.level === "token" && pooling === undefined) throw poolingUnknown(encoder.manifest);
  return output;
}

/** Throws MODEL_INVALID if a graph that pools lacks the post-pooling modules of modules.json, as far as the vector length shows it. */
function refuseUnfinished({ name, text }: Manifest, dimensions: number): void {
  const lengths = (text?.vectorModules ?? []).map((module) => {
    if (module.kind === "normalize") return undefined;
    return "outFeatures" in module ? module.outFeatures : module.features;
  });
  const expected = lengths.findLast((length) => length !== undefined);
  if (expected === undefined || expected === dimensions) return;
  const message = `${name}: the graph's sentence_embedding has ${dimensions} numbers, and the modules of modules.json give ${expected}`;
  throw new InferyardError("MODEL_INVALID", message, { remedy: "export the model again, with its modules or without pooling" });
}

/** Loads the post-pooling modules of a model; undefined if it has none. */
export async function getPostPooling(encoder: Encoder<TaskTokenizer>): Promise<PostPooling | undefined> {
  const modules = encoder.manifest.text?.vectorModules;
  return modules === undefined ? undefined : await loadModules(encoder, modules);
}

/** Loads modules of the manifest. */
export async function loadModules(
  { manifest, loadModules: load }: Pick<Encoder, "manifest" | "loadModules">,
  modules: readonly VectorModule[],
): Promise<PostPooling> {
  if (load !== undefined) return await load(modules);
  throw new InferyardError("CONTRACT_VIOLATION", `the modules of ${manifest.name} were not loaded`);
}

/** Mean pooling runs in the model's host: 512 token vectors are about 1 MB, and copying them out costs as much as summing them. */
function computeMeans({ poolPrompt }: EmbedSettings): Pick<EncoderRunOptions<TokenIds>, "batchKey" | "reduction"> {
  const range = ({ ids, promptTokens }: TokenIds): TokenRange => ({ first: poolPrompt ? 0 : promptTokens, end: ids.length });
  return {
    batchKey: poolPrompt ? "mean" : "mean without prompt",
    reduction: (rows) => ({ kind: "mean", ranges: rows.map(range) }),
  };
}

function pool({ promptTokens }: TokenIds, settings: EmbedSettings, rows: TokenRows): Float32Array {
  if (settings.pooling === undefined || settings.pooling === "none") return allRows(rows);
  return poolingFunctions[settings.pooling](settings.poolPrompt ? rows : { ...rows, first: promptTokens });
}

/**
 * Keeps the first `settings.dimensions` components and normalizes if `settings.normalize` is set. Throws INPUT_INVALID if the vector is shorter,
 * RUN_FAILED with the index of the text if a component is NaN or infinite.
 */
export function truncateAndNormalize(vector: Float32Array, settings: EmbedSettings, index: number): Float32Array {
  const { dimensions } = settings;
  if (dimensions !== undefined && dimensions > vector.length) {
    throw invalidInput(`dimensions is ${dimensions}, and the model's vectors have ${vector.length}`);
  }
  requireFinite(vector, index);
  const kept = dimensions === undefined ? vector : vector.slice(0, dimensions);
  return settings.normalize ? normalizeRows(kept) : kept;
}

function vectorLength(encoder: Encoder<TaskTokenizer>, output: VectorOutput): number {
  const last = encoder.outputs.find(({ name }) => name === output.name)?.shape.at(-1);
  return typeof last === "number" ? last : 0;
}

function poolingUnknown({ name }: Manifest): InferyardError {
  return new InferyardError(
    "POOLING_UNKNOWN",
    `${name} does not state how its token vectors are pooled, and a wrong pooling gives wrong vectors without an error`,
    {
      remedy: `state the pooling (mean, cls, max, last or none) in the model's inferyard.json, {"pooling": "mean"}, or for one call: ${quoteOption("pooling", "mean")}`,
    },
  );
}
