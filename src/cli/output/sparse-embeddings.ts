/** `inferyard embed --sparse`: weights of vocabulary tokens, shown with the text of the tokens. */
import { omitUndefined } from "../../contract/checked.ts";
import type { EmbedSparseResult } from "../../api/task-requests.ts";
import type { SparseEmbedding } from "../../tasks/sparse-embedding/sparse-vectors.ts";
import { embedSparseOptions } from "../../tasks/sparse-embedding/embed-sparse-options.ts";
import { optionsFromFlags } from "../option-flags.ts";
import { type GlobalFlags, type CommandSession, withNotice } from "../session.ts";
import { formatTable, printable } from "./table.ts";
import type { Terminal } from "../terminal.ts";
import { configured, printResult } from "../task-command.ts";
import { formatMilliseconds, plural, shortFloat } from "./units.ts";

type TokenOf = (id: number) => string;

/** Runs the command and prints the result. */
export async function embedSparsely(
  texts: readonly string[],
  flags: GlobalFlags,
  session: CommandSession,
  terminal: Terminal,
): Promise<void> {
  const { runtime, model, notice } = session;
  const { variant, ...settings } = configured(session);
  const { signal } = terminal;
  const work = runtime.use(model, { ...omitUndefined({ variant }), signal }, async (handle) => {
    const options = optionsFromFlags(embedSparseOptions, flags);
    const result = await runtime.embedSparse(texts, { ...options, ...settings, signal, model: handle });
    const tokenizer = await runtime.tokenizer(handle);
    return { result: { ...result, model }, tokenOf: (id: number) => tokenizer.idToToken(id) ?? String(id) };
  });
  const { result, tokenOf } = await withNotice(terminal, notice(`loading and running ${model}`), work);
  await printResult(flags, terminal, {
    json: () => toJson(result, tokenOf),
    text: () => describe(result, texts, tokenOf),
    summary: `${plural(texts.length, "text")} in ${formatMilliseconds(result.milliseconds)} · --json for all weights`,
    truncated: result.truncated,
  });
}

function toJson({ model, target, embeddings, decision }: EmbedSparseResult, tokenOf: TokenOf): string {
  const results = embeddings.map(({ indices, values }) => ({
    indices: [...indices],
    values: Array.from(values, shortFloat),
    tokens: Array.from(indices, tokenOf),
  }));
  return JSON.stringify({ model, target, results, decision });
}

const widestText = 40;
const widestToken = 20;
/** Largest weights shown per text. */
const shownWeights = 6;

function describe(
  { model, target, dimensions, embeddings, decision }: EmbedSparseResult,
  texts: readonly string[],
  tokenOf: TokenOf,
): string {
  const { variant } = decision.model;
  const title = [model, variant, `${dimensions} tokens in the vocabulary`, target].filter((word) => word !== undefined);
  const rows = texts.map((text, index) => {
    const embedding = embeddings[index];
    return [printable(text, widestText), plural(embedding?.indices.length ?? 0, "weight"), largest(embedding, tokenOf)];
  });
  return [title.join(" · "), ...(rows.length === 0 ? [] : [formatTable(rows)])].join("\n");
}

function largest(embedding: SparseEmbedding | undefined, tokenOf: TokenOf): string {
  if (embedding === undefined) return "";
  const { indices, values } = embedding;
  const shown = Array.from(
    indices.subarray(0, shownWeights),
    (id, place) => `${printable(tokenOf(id), widestToken)} ${(values[place] ?? 0).toFixed(3)}`,
  );
  return `${shown.join(", ")}${indices.length > shown.length ? ", …" : ""}`;
}
