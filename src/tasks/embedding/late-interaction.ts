/** Late interaction (ColBERT, Khattab and Zaharia 2020): a text is a list of token vectors, and query and document are compared token by token. */
import { at } from "../../contract/checked.ts";
import { InferyardError, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TokenIds } from "../../tokenizers/index.ts";
import { type EmbedOptions, embedSettings } from "./embed-options.ts";
import { rolePrompt } from "./prompts.ts";
import type { Embeddings } from "./embeddings.ts";
import { type TaskTokenizer, encodeTexts } from "../encoding/encode-texts.ts";
import { isLateInteraction } from "../encoding/encoder-outputs.ts";
import type { Encoder } from "../batching/run-encodings.ts";
import { poolEncodings, getPostPooling } from "./pool-encodings.ts";
import { joinRows, normalizeRows } from "../encoding/pooling.ts";

/** Whether a late-interaction model reads a text as query or as document; the two have different markers and lengths. */
export type LateInteractionRole = "query" | "document";

/** Whether a model is one of late interaction: by its files, or by the output "contextual" of its graph. */
export function isLateInteractionModel({ outputs, manifest }: Pick<Encoder, "outputs" | "manifest">): boolean {
  return isLateInteraction(outputs) || manifest.text?.lateInteraction !== undefined;
}

/**
 * The token vectors that take part in MaxSim, prepared as PyLate, ColBERT and sentence-transformers' MultiVectorEncoder do: the prompt of the role or a
 * marker token after the prefix, query expansion, punctuation removed from documents, then the model's modules on every vector. A model whose files
 * declare none of these returns all token vectors. Throws MODEL_UNSUPPORTED if the files lack the modules and the graph does not contain them.
 */
export async function embedTokenVectors(
  encoder: Encoder<TaskTokenizer>,
  texts: readonly string[],
  role: LateInteractionRole,
  options: EmbedOptions,
): Promise<Embeddings> {
  const { manifest } = encoder;
  const late = manifest.text?.lateInteraction;
  const isInGraph = isLateInteraction(encoder.outputs);
  if (late?.hasModules === false && !isInGraph && options.pooling === undefined) throw modulesMissing(manifest);
  const settings = embedSettings(manifest, { ...options, ...rolePrompt(manifest, role), pooling: "none" });
  const { promptText: prompt, truncate } = settings;
  const { marker, maxTokens: roleLimit = Number.POSITIVE_INFINITY } = late?.[role] ?? {};
  const markerId = marker === undefined || prompt !== "" ? undefined : getId(encoder, marker.trim());
  const limit = Math.min(settings.maxTokens, roleLimit);
  const maxTokens = limit - (markerId === undefined ? 0 : 1);
  const encodings = await encodeTexts(
    encoder.tokenizer,
    texts,
    { maxTokens, truncate: truncate === "error" ? "error" : "cut", prompt },
    options.signal,
  );
  const head = encoder.tokenizer.frame.prefix.length;
  const { expansion } = role === "query" && late !== undefined ? late : {};
  const added = expansion === undefined ? undefined : expansionId(encoder, expansion.token);
  const rows = encodings.map((encoding) => {
    const ids = markerId === undefined ? encoding.ids : encoding.ids.toSpliced(head, 0, markerId);
    if (expansion === undefined || added === undefined) return { ...withoutIds(encoding), ids };
    const missing = Math.max(0, Math.min(expansion.length, limit) - ids.length);
    const expanded = [...ids, ...Array.from({ length: missing }, () => added)];
    return { ...withoutIds(encoding), ids: expanded, ...(expansion.attend ? {} : { attended: ids.length }) };
  });
  const words = late?.skippedIn.includes(role) === true ? late.skippedWords : [];
  const skipped = new Set(words.map((word) => encoder.tokenizer.tokenToId(word)).filter((id) => id !== undefined));
  const modules = isInGraph ? undefined : await getPostPooling(encoder);
  const isScaled = late !== undefined && !isInGraph && manifest.text?.normalize === true;
  const embeddings: Float32Array[] = Array.from({ length: rows.length });
  const { dimensions } = await poolEncodings(encoder, rows, settings, options.signal, (vectors, index) => {
    const kept = withoutTokens(vectors, at(rows, index).ids, skipped);
    embeddings[index] = mapRows(kept, vectors.length / at(rows, index).ids.length, (vector) => {
      const result = modules === undefined ? vector : modules.apply(vector);
      return isScaled ? normalizeRows(result) : result;
    });
  });
  return {
    embeddings,
    pooling: "none",
    dimensions: modules?.dimensions ?? dimensions,
    tokens: rows.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function withoutIds({ truncated, wholeLength, promptTokens }: TokenIds): Omit<TokenIds, "ids"> {
  return { truncated, wholeLength, promptTokens };
}

/** Applies a function to each row of `[rows, size]` and joins the results. The function may change its argument. */
function mapRows(rows: Float32Array, size: number, transform: (row: Float32Array) => Float32Array): Float32Array {
  const results: Float32Array[] = [];
  for (let start = 0; start < rows.length; start += size) results.push(transform(rows.subarray(start, start + size)));
  return joinRows(results);
}

function withoutTokens(vectors: Float32Array, ids: readonly number[], skipped: ReadonlySet<number>): Float32Array {
  const kept = ids.flatMap((id, token) => (skipped.has(id) ? [] : [token]));
  if (kept.length === ids.length) return vectors;
  const size = vectors.length / ids.length;
  const result = new Float32Array(kept.length * size);
  for (const [index, token] of kept.entries()) result.set(vectors.subarray(token * size, (token + 1) * size), index * size);
  return result;
}

function getId({ manifest, tokenizer }: Encoder<TaskTokenizer>, marker: string): number {
  const id = tokenizer.tokenToId(marker) ?? tokenizer.tokenToId(`${marker} `);
  if (id !== undefined) return id;
  throw new InferyardError(
    "MODEL_INVALID",
    `${manifest.name} marks texts with ${JSON.stringify(marker)}, and its tokenizer has no such token`,
  );
}

function expansionId({ manifest, tokenizer }: Encoder<TaskTokenizer>, token: string | undefined): number {
  const id = token === undefined ? tokenizer.maskId : tokenizer.tokenToId(token);
  if (id !== undefined) return id;
  const name =
    token === undefined
      ? "mask tokens, and its tokenizer has none"
      : `${JSON.stringify(token)}, and its tokenizer has no such token`;
  throw new InferyardError("MODEL_INVALID", `${manifest.name} fills queries with ${name}`);
}

function modulesMissing({ name }: Manifest): InferyardError {
  const message = `${name} is a late-interaction model, and its folder has no modules that turn the encoder's token vectors into those that are compared`;
  return unsupportedModel(
    message,
    'download the whole folder (modules.json, 1_Dense), use an export with the output "contextual", or ask for pooling "none"',
  );
}
