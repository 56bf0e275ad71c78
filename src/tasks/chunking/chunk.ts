/** chunk: a long text to pieces that a model can take, with nothing lost between them. */
import { InferyardError } from "../../errors.ts";
import { type Tokenizer, convertOffsets } from "../../tokenizers/index.ts";
import { splitIntoAtoms, penalizeBreaksInBlocks } from "./atoms.ts";
import type { ChunkSettings } from "./chunk-options.ts";
import { codeStructure } from "./code-structure.ts";
import { markdownStructure } from "./markdown-structure.ts";
import { type Span, pack } from "./pack.ts";
import type { ChunkModel } from "./chunk-model.ts";
import { structureWithForcedBreaks } from "./forced-structure.ts";
import { semanticStructure } from "./semantic-structure.ts";
import { separatorPriority, textBreaks } from "./separators.ts";
import type { TextStructure } from "./structure.ts";
import { TokenCounter } from "./token-counter.ts";

export interface Chunk {
  /** Place among the chunks of its text, from 0. */
  readonly id: number;
  readonly text: string;
  /** Where it begins in the text, in the unit asked for. */
  readonly start: number;
  /** Where it ends: the position after its last character. */
  readonly end: number;
  /** What the model's tokenizer counts for it, without special tokens. */
  readonly tokens: number;
  /** With the strategy "late": its vector. */
  readonly embedding?: Float32Array;
}

export interface ChunkedText {
  /** In order. Without overlap their texts, joined, are the text; an empty text has none. */
  readonly chunks: readonly Chunk[];
  /** Whether `maxChunks` left out the rest of the text. */
  readonly truncated: boolean;
}

/**
 * `readLong`: chunks of a text that another thread is to read; undefined for one to be read here. Default: every text is read here.
 *
 * A chunk has more tokens than the target only where it is a single grapheme that has.
 */
export async function chunkTexts(
  texts: readonly string[],
  tokenizer: Tokenizer,
  settings: ChunkSettings,
  model: ChunkModel | undefined,
  readLong?: (text: string) => Promise<ChunkedText> | undefined,
): Promise<ChunkedText[]> {
  const counter = new TokenCounter(tokenizer);
  const results: ChunkedText[] = [];
  for (const [index, text] of texts.entries()) {
    if (typeof text !== "string")
      throw new InferyardError("INPUT_INVALID", `text ${index} is ${text === null ? "null" : typeof text}, not a string`);
    results.push(await (readLong?.(text) ?? chunkText(text, counter, settings, model)));
  }
  return results;
}

async function chunkText(
  text: string,
  counter: TokenCounter,
  settings: ChunkSettings,
  model: ChunkModel | undefined,
): Promise<ChunkedText> {
  const structure = await structureOf(text, settings, model);
  const atoms = await splitIntoAtoms(text, structure, counter, settings.target, settings.signal);
  penalizeBreaksInBlocks(atoms, structure.blocks, settings.target);
  const { spans, complete } = await pack(text, atoms, counter, settings, settings.signal);
  const vectors = settings.strategy === "late" ? await needed(model).embedSpans(text, spans) : [];
  return { chunks: chunksOf(text, spans, vectors, settings), truncated: !complete };
}

async function structureOf(text: string, settings: ChunkSettings, model: ChunkModel | undefined): Promise<TextStructure> {
  const { strategy, separators, threshold, percentile } = settings;
  const cut = strategy === "late" ? settings.structure : strategy;
  switch (cut) {
    case "fixed":
      return { marks: textBreaks(text, separators), wordRank: separatorPriority(separators, "words"), blocks: [] };
    case "markdown":
      return markdownStructure(text, separators);
    case "code":
      return codeStructure(text);
    case "semantic":
      return semanticStructure(text, separators, { threshold, percentile }, (texts) => needed(model).embedTexts(texts));
    case "token-classification":
      return structureWithForcedBreaks(text, separators, await needed(model).ends(text));
    default:
      return cut satisfies never;
  }
}

function needed(model: ChunkModel | undefined): ChunkModel {
  if (model !== undefined) return model;
  throw new InferyardError("CONTRACT_VIOLATION", "a strategy that runs a model was asked for without one");
}

function chunksOf(text: string, spans: readonly Span[], vectors: readonly Float32Array[], { offsets }: ChunkSettings): Chunk[] {
  const places = convertOffsets(Int32Array.from(spans.flatMap(({ start, end }) => [start, end])), text, offsets);
  return spans.map(({ start, end, tokens }, id) => {
    const embedding = vectors[id];
    return {
      id,
      text: text.slice(start, end),
      start: places[2 * id] ?? 0,
      end: places[2 * id + 1] ?? 0,
      tokens,
      ...(embedding === undefined ? {} : { embedding }),
    };
  });
}
