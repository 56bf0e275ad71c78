/** Components of tokenizer.json, as the classes of transformers combine them. */
import { encodeBase64 } from "../../platform/base64.ts";
import type { ComponentConfig } from "./component-config.ts";

/** The symbol of a space in SentencePiece. */
export const spaceSymbol = "\u2581";

/** Several pre-tokenizers, normalizers or decoders in turn. */
export function sequence(
  name: "pretokenizers" | "normalizers" | "decoders",
  components: readonly ComponentConfig[],
): ComponentConfig {
  return { type: "Sequence", [name]: components };
}

/** Replaces a literal text. */
export function replaceText(text: string, content: string): ComponentConfig {
  return { type: "Replace", pattern: { String: text }, content };
}

/** Replaces the matches of a regular expression. */
export function replaceRegex(regex: string, content: string): ComponentConfig {
  return { type: "Replace", pattern: { Regex: regex }, content };
}

/** Splits at the matches of a regular expression. */
export function splitRegex(regex: string, behavior: "Isolated" | "Removed", invert = false): ComponentConfig {
  return { type: "Split", pattern: { Regex: regex }, behavior, invert };
}

/** Pre-tokenizer and decoder `Metaspace`. */
export function metaspace(scheme: "always" | "first" | "never", splits = true): ComponentConfig {
  return { type: "Metaspace", replacement: spaceSymbol, prepend_scheme: scheme, split: splits };
}

/** Normalizer `Precompiled`; none for a model without a character map. */
export function precompiled(characterMap: Uint8Array | undefined): readonly ComponentConfig[] {
  if (characterMap === undefined) return [];
  return [{ type: "Precompiled", precompiled_charsmap: encodeBase64(characterMap) }];
}

/** Decoder of SentencePiece BPE. `hasBytes`: whether tokens may be bytes. `dropsSpace`: whether the first space of a text is left out, since encoding adds it. */
export function sentencePieceDecoder(hasBytes: boolean, dropsSpace: boolean): ComponentConfig {
  return sequence("decoders", [
    replaceText(spaceSymbol, " "),
    ...(hasBytes ? [{ type: "ByteFallback" }] : []),
    ...(hasBytes || dropsSpace ? [{ type: "Fuse" }] : []),
    ...(dropsSpace ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
  ]);
}

/** Pre-tokenizer `ByteLevel`. */
export function byteLevel(addPrefixSpace: boolean, splitsWords = true): ComponentConfig {
  return { type: "ByteLevel", add_prefix_space: addPrefixSpace, trim_offsets: true, use_regex: splitsWords };
}

/** A token with its id. */
export interface TokenId {
  readonly token: string;
  readonly id: number;
}

/** A part of a template: a text by its name, or a special token; with its type id. */
export type Part = readonly ["A" | "B" | TokenId, number?];

/** Post-processor `TemplateProcessing`. */
export function template(single: readonly Part[], pair: readonly Part[]): ComponentConfig {
  const written = (parts: readonly Part[]): readonly object[] =>
    parts.map(([part, type = 0]) =>
      typeof part === "string" ? { Sequence: { id: part, type_id: type } } : { SpecialToken: { id: part.token, type_id: type } },
    );
  const tokens = [...single, ...pair].flatMap(([part]) => (typeof part === "string" ? [] : [part]));
  return {
    type: "TemplateProcessing",
    single: written(single),
    pair: written(pair),
    special_tokens: Object.fromEntries(tokens.map(({ token, id }) => [token, { id: token, ids: [id], tokens: [token] }])),
  };
}

/** Post-processor `RobertaProcessing`. */
export function robertaProcessing(cls: TokenId, sep: TokenId, trimOffsets: boolean, addPrefixSpace: boolean): ComponentConfig {
  return {
    type: "RobertaProcessing",
    sep: [sep.token, sep.id],
    cls: [cls.token, cls.id],
    trim_offsets: trimOffsets,
    add_prefix_space: addPrefixSpace,
  };
}
