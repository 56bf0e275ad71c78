/** From token ids to one vector per text: pooling, the modules after it, and the finishing touches. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TokenRange } from "../../hosts/output-reduction.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import type { EmbedSettings } from "./embed-options.ts";
import type { TaskTokenizer } from "../shared/encode-texts.ts";
import { type VectorOutput, vectorOutput } from "../shared/encoder-outputs.ts";
import { type Encoder, type EncoderRunOptions, runEncodings } from "../batching/run-encodings.ts";
import { type TokenRows, allRows, normalize, poolingFunctions } from "./pooling.ts";
import type { PostPooling } from "./post-pooling.ts";

/**
 * The model's vector of each text (with pooling "none" those of its tokens) before it is cut and scaled. `dimensions`: length of one, and of no
 * texts as far as the model says it without running. `text`: which text an encoding is of, where they are not one for one.
 */
export async function poolEncodings(
  encoder: Encoder<TaskTokenizer>,
  encodings: readonly (TokenIds & { readonly text?: number })[],
  settings: EmbedSettings,
  signal: AbortSignal | undefined,
  take: (vector: Float32Array, index: number) => void,
): Promise<{ dimensions: number }> {
  const output = vectorOutput(encoder.outputs, settings.pooling, encoder.manifest.text?.pooling);
  if (output.level === "token" && settings.pooling === undefined) throw poolingUnknown(encoder.manifest);
  // A graph that pools by itself was exported with all that comes after.
  const chain = output.level === "token" && settings.pooling !== "none" ? await postPoolingOf(encoder) : undefined;
  const means = output.level === "token" && settings.pooling === "mean";
  const wanted = {
    output: output.name,
    ...(means ? meansOf(settings) : {}),
    batchTokens: settings.batchTokens,
    ...(signal === undefined ? {} : { signal }),
  };
  let seen: number | undefined;
  await runEncodings(encoder, encodings, wanted, ({ index, encoding, data, offset, shape }) => {
    const dimensions = shape.at(-1) ?? 0;
    seen = dimensions;
    if (output.level === "sentence") refuseUnfinished(encoder.manifest, dimensions);
    const vector =
      output.level === "sentence" || means
        ? data.slice(offset, offset + dimensions)
        : pool(encoding, settings, { data, offset, dimensions, first: 0, end: encoding.ids.length });
    refuseBroken(vector, encoding.text ?? index);
    take(chain === undefined ? vector : chain.apply(vector), index);
  });
  return { dimensions: chain?.dimensions ?? seen ?? vectorLength(encoder, output) };
}

/** A graph that pools but leaves out the modules after: as far as lengths tell. */
function refuseUnfinished({ name, text }: Manifest, dimensions: number): void {
  const lengths = (text?.vectorModules ?? []).map((module) => {
    if (module.kind === "normalize") return undefined;
    return module.kind === "dense" ? module.outFeatures : module.features;
  });
  const wanted = lengths.findLast((length) => length !== undefined);
  if (wanted === undefined || wanted === dimensions) return;
  const message = `${name}: the graph's sentence_embedding has ${dimensions} numbers, and the modules of modules.json give ${wanted}`;
  throw new InferyardError("MODEL_INVALID", message, { remedy: "export the model again, with its modules or without pooling" });
}

/** The modules after pooling; undefined where the model has none. */
export async function postPoolingOf({ manifest, chain }: Encoder<TaskTokenizer>): Promise<PostPooling | undefined> {
  if (manifest.text?.vectorModules === undefined) return undefined;
  if (chain !== undefined) return await chain();
  throw new InferyardError("CONTRACT_VIOLATION", `the modules after pooling of ${manifest.name} were not loaded`);
}

/** The mean is taken where the model lives: the vectors of all tokens are 1 MB for 512 of them, and as much work to move as they are to sum. */
function meansOf({ poolPrompt }: EmbedSettings): Pick<EncoderRunOptions<TokenIds>, "kind" | "reduction"> {
  const range = ({ ids, promptTokens }: TokenIds): TokenRange => ({ first: poolPrompt ? 0 : promptTokens, end: ids.length });
  return {
    kind: poolPrompt ? "mean" : "mean without prompt",
    reduction: (rows) => ({ kind: "mean", ranges: rows.map(range) }),
  };
}

function pool({ promptTokens }: TokenIds, settings: EmbedSettings, rows: TokenRows): Float32Array {
  if (settings.pooling === undefined || settings.pooling === "none") return allRows(rows);
  return poolingFunctions[settings.pooling](settings.poolPrompt ? rows : { ...rows, first: promptTokens });
}

/** Cut to the dimensions asked for, then scaled. With pooling "none" the tokens' vectors as they are. */
export function truncateAndNormalize(vector: Float32Array, settings: EmbedSettings, index: number): Float32Array {
  const { dimensions } = settings;
  if (dimensions !== undefined && dimensions > vector.length) {
    throw new InferyardError("INPUT_INVALID", `dimensions is ${dimensions}, and the model's vectors have ${vector.length}`);
  }
  refuseBroken(vector, index);
  const kept = dimensions === undefined ? vector : vector.slice(0, dimensions);
  return settings.normalize ? normalize(kept) : kept;
}

function refuseBroken(vector: Float32Array, index: number): void {
  let broken = 0;
  while (broken < vector.length && Number.isFinite(vector[broken])) broken += 1; // a third of the garbage of findIndex
  if (broken === vector.length) return;
  throw new InferyardError("RUN_FAILED", `the model gave a value that is not a number for text ${index}`, {
    remedy: "try another variant or target",
    data: { text: index, component: broken },
  });
}

function vectorLength(encoder: Encoder<TaskTokenizer>, output: VectorOutput): number {
  const last = encoder.outputs.find(({ name }) => name === output.name)?.shape.at(-1);
  return typeof last === "number" ? last : 0;
}

function poolingUnknown({ name }: Manifest): InferyardError {
  return new InferyardError(
    "POOLING_UNKNOWN",
    `${name} does not say how its token vectors become one, and a guess could be wrong without a word`,
    {
      remedy: "give a pooling (mean, cls, max, last or none): --pooling mean",
    },
  );
}
