/** WordPiece tokenizers of vocab.txt: BERT and its kin (`BertTokenizer` of transformers), and MPNet. */
import type { TokenizerJson } from "../config/tokenizer-json.ts";
import type { ClassSettings } from "./class-settings.ts";
import { robertaProcessing, template } from "../config/components.ts";

/** A tokenizer of the lines of vocab.txt. Throws Error if a special token that frames texts is not among them. */
export function wordPieceTokenizer(lines: string, settings: ClassSettings, kind: "bert" | "mpnet"): TokenizerJson {
  const model = {
    type: "WordPiece",
    vocab: vocabularyOfLines(lines),
    unk_token: settings.token("unk_token"),
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
  };
  // Stated neither as true nor as false, accents are removed where letters are made lower case.
  const strips = settings.flag("strip_accents", true);
  const isStated = strips === settings.flag("strip_accents", false);
  const normalizer = {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: settings.flag("tokenize_chinese_chars", true),
    strip_accents: isStated ? strips : null,
    lowercase: settings.flag("do_lower_case", true),
  };
  const decoder = { type: "WordPiece", prefix: "##", cleanup: true };
  return settings.finish({ model, normalizer, pre_tokenizer: { type: "BertPreTokenizer" }, decoder }, (idOf) => {
    const [cls, sep] = [idOf("cls_token"), idOf("sep_token")];
    if (cls === undefined || sep === undefined) throw new Error("it has no token for cls_token or sep_token");
    if (kind === "mpnet") return robertaProcessing(cls, sep, true, false);
    const single = [[cls], ["A"], [sep]] as const;
    return template(single, [...single, ["B", 1], [sep, 1]]);
  });
}

/** Ids by token: the number of its line. White space at the end of a line does not count, and of equal lines the last one has the id. */
function vocabularyOfLines(lines: string): ReadonlyMap<string, number> {
  const tokens = lines.split("\n");
  if (tokens.at(-1) === "") tokens.pop();
  return new Map(tokens.map((token, id) => [token.trimEnd(), id]));
}
