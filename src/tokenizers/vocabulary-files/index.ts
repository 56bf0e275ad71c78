/** Tokenizers of models without tokenizer.json: vocab.txt, vocab.json with merges.txt, and the model files of SentencePiece. */
import { InferyardError, getMessage } from "../../contract/errors.ts";
import type { TextSettings } from "../../models/manifest.ts";
import { readBytes, readText } from "../../platform/node/files.ts";
import { basename, dirname, join } from "../../platform/node/paths.ts";
import { type TokenizerJson, tokenizerInvalid } from "../config/tokenizer-json.ts";
import { parseIds } from "./byte-level.ts";
import { type VocabularyFileSource, tokenizerOfClass } from "./classes.ts";
import { parseSentencePieceModel } from "./sentencepiece-model.ts";

/** Reads the files of a tokenizer and builds the tokenizer of the class in the settings. Throws TOKENIZER_INVALID. */
export async function readVocabularyFiles(settings: TextSettings): Promise<TokenizerJson> {
  const { tokenizerShown, tokenizerClass = "", tokenizerConfig } = settings;
  try {
    return tokenizerOfClass(await readSource(settings), tokenizerClass, tokenizerConfig);
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    throw tokenizerInvalid(tokenizerShown, `cannot be used: ${getMessage(error)}`, error);
  }
}

async function readSource({ tokenizerPath, tokenizerFormat }: TextSettings): Promise<VocabularyFileSource> {
  if (tokenizerFormat === "vocab.txt") return { kind: "wordpiece", lines: await readText(tokenizerPath) };
  if (tokenizerFormat === "vocab.json") {
    const merges = await readText(join(dirname(tokenizerPath), "merges.txt"));
    return { kind: "bpe", files: { vocabulary: await readText(tokenizerPath), merges } };
  }
  const model = parseSentencePieceModel(await readBytes(tokenizerPath));
  if (basename(tokenizerPath) !== "source.spm") return { kind: "sentencepiece", model };
  return { kind: "sentencepiece", model, ids: parseIds(await readText(join(dirname(tokenizerPath), "vocab.json"))) };
}
