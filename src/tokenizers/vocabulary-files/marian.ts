/** Marian's tokenizers (`MarianTokenizer` of transformers): the pieces of source.spm with the ids of vocab.json, which has those of the target language too. */
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import { type ClassSettings, requireToken } from "./class-settings.ts";
import { metaspace, sequence, template } from "../config/components.ts";
import { ownNormalizers } from "./sentencepiece-bpe.ts";
import type { SentencePieceModel } from "./sentencepiece-model.ts";

/** Score of a token that the model of the source language does not have: only a run of characters without pieces is one. */
const foreignScore = Number.NEGATIVE_INFINITY;

/** The tokenizer of a source language. Throws Error if the ids have gaps, or the languages have vocabularies of their own. */
export function marianTokenizer(
  model: SentencePieceModel,
  ids: ReadonlyMap<string, number>,
  settings: ClassSettings,
): TokenizerJson {
  if (settings.flag("separate_vocabs", false)) throw new Error("it has separate_vocabs, which is not supported");
  const scores = new Map(model.pieces.flatMap(({ text, score, type }) => (type === "normal" ? [[text, score] as const] : [])));
  const tokens = [...ids].toSorted(([, a], [, b]) => a - b);
  if (tokens.some(([, id], index) => id !== index)) throw new Error("its vocab.json has ids with gaps");
  const languages = tokens.flatMap(([token]) =>
    /^>>.+<<$/.test(token) ? [{ content: token, special: false, normalized: false }] : [],
  );
  const parts = {
    model: {
      type: "Unigram",
      unk_id: ids.get(settings.token("unk_token") ?? "") ?? null,
      vocab: tokens.map(([token]) => [token, scores.get(token) ?? foreignScore]),
      // Pieces that vocab.json lacks are unknown tokens, each for itself.
      nameless_pieces: [...scores].filter(([token]) => !ids.has(token)),
      byte_fallback: false,
    },
    normalizer: sequence("normalizers", ownNormalizers(model, true, true)),
    pre_tokenizer: metaspace("always", false),
    decoder: metaspace("always"),
  };
  return settings.withSpecialTokens(languages).finish(parts, (idOf) => {
    const last = requireToken(idOf, "eos_token");
    return template([["A"], [last]], [["A"], ["B"], [last]]);
  });
}
