/**
 * Task `chunking` (ours; Hugging Face has none): splits long texts into chunks of at most `targetTokens` tokens. Without overlap the chunks
 * concatenate to the text.
 */
import type { Chunk, ChunkedText } from "../text-threads/chunked-text.ts";
import { at, omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { type Tokenizer, convertSpans } from "../../tokenizers/index.ts";
import { splitIntoAtoms, penalizeBreaksInBlocks } from "./atoms.ts";
import type { ChunkSettings } from "../text-threads/chunked-text.ts";
import { codeStructure } from "./code-structure.ts";
import { markdownStructure } from "./markdown-structure.ts";
import { type Span, packSpans } from "./pack.ts";
import type { ChunkModel } from "./chunk-model.ts";
import { structureWithForcedBreaks } from "./forced-structure.ts";
import { semanticStructure } from "./semantic-structure.ts";
import { separatorPriority, textBreaks } from "./separators.ts";
import type { TextStructure } from "./structure.ts";
import { TokenCounter } from "./token-counter.ts";

/** The chunks of several texts. */
export interface ChunkedTexts {
  /** One result per text, in order. */
  readonly results: readonly ChunkedText[];
}

/**
 * Chunks texts, in order. A chunk exceeds the target only if it is a single grapheme with more tokens. `model` is required for the strategies
 * "semantic", "late" and "token-classification". `chunkOffThread` returns the chunks of a text that a worker thread processes, undefined for a
 * text to process here; default: all texts are processed here.
 */
export async function chunkTexts(
  texts: readonly string[],
  tokenizer: Tokenizer,
  settings: ChunkSettings,
  model: ChunkModel | undefined,
  chunkOffThread?: (text: string) => Promise<ChunkedText> | undefined,
): Promise<ChunkedText[]> {
  const counter = new TokenCounter(tokenizer);
  const results: ChunkedText[] = [];
  for (const [index, text] of texts.entries()) {
    if (typeof text !== "string") throw invalidInput(`text ${index} is ${text === null ? "null" : typeof text}, not a string`);
    results.push(await (chunkOffThread?.(text) ?? chunkText(text, counter, settings, model)));
  }
  return results;
}

async function chunkText(
  text: string,
  counter: TokenCounter,
  settings: ChunkSettings,
  model: ChunkModel | undefined,
): Promise<ChunkedText> {
  const structure = await getStructure(text, settings, model);
  const atoms = await splitIntoAtoms(text, structure, counter, settings.target, settings.signal);
  penalizeBreaksInBlocks(atoms, structure.blocks, settings.target);
  const { spans, complete } = await packSpans(text, atoms, counter, settings, settings.signal);
  const vectors = settings.strategy === "late" ? await requireModel(model).embedSpans(text, spans) : [];
  return { chunks: getChunks(text, spans, vectors, settings), truncated: !complete };
}

async function getStructure(text: string, settings: ChunkSettings, model: ChunkModel | undefined): Promise<TextStructure> {
  const { strategy, separators, threshold, percentile } = settings;
  const cut = strategy === "late" ? settings.structure : strategy;
  switch (cut) {
    case "fixed":
      return { breaks: textBreaks(text, separators), wordPriority: separatorPriority(separators, "words"), blocks: [] };
    case "markdown":
      return markdownStructure(text, separators);
    case "code":
      return codeStructure(text);
    case "semantic":
      return semanticStructure(text, separators, { threshold, percentile }, (texts) => requireModel(model).embedTexts(texts));
    case "token-classification":
      return structureWithForcedBreaks(text, separators, await requireModel(model).labelledEnds(text));
    default:
      return cut satisfies never;
  }
}

function requireModel(model: ChunkModel | undefined): ChunkModel {
  if (model !== undefined) return model;
  throw new InferyardError("CONTRACT_VIOLATION", "this chunking strategy needs a model, and none was given");
}

function getChunks(text: string, spans: readonly Span[], vectors: readonly Float32Array[], { offsets }: ChunkSettings): Chunk[] {
  const ranges = convertSpans(spans, text, offsets);
  return spans.map(({ start, end, tokens }, id) => {
    const embedding = vectors[id];
    return {
      id,
      text: text.slice(start, end),
      ...at(ranges, id),
      tokens,
      ...omitUndefined({ embedding }),
    };
  });
}
