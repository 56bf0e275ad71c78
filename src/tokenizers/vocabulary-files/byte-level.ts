/** BPE tokenizers of vocab.json and merges.txt: byte-level BPE of GPT-2 and its kin, and CLIP. */
import type { ComponentConfig } from "../config/component-config.ts";
import { parseTokenizerJson, type TokenizerJson } from "../config/tokenizer-json.ts";
import { type ClassSettings, requireToken } from "./class-settings.ts";
import {
  byteLevel,
  replaceRegex,
  robertaProcessing,
  sequence,
  splitRegex,
  template,
  type TokenId,
} from "../config/components.ts";

/** The texts of vocab.json and merges.txt. */
export interface BpeFiles {
  readonly vocabulary: string;
  readonly merges: string;
}

/** Kinds of these tokenizers, by the components around the model. */
export type BpeKind = "gpt2" | "roberta" | "deberta" | "qwen2" | "clip";

const qwen2Words =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const clipWords = "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

/** A tokenizer of vocab.json and merges.txt. Throws Error if they are damaged or lack a special token that frames texts. */
export function bpeTokenizer({ vocabulary, merges }: BpeFiles, settings: ClassSettings, kind: BpeKind): TokenizerJson {
  const ending = kind === "clip" ? { end_of_word_suffix: "</w>", unk_token: settings.token("unk_token") } : {};
  const model = { type: "BPE", vocab: parseIds(vocabulary), merges: getMerges(merges), ...ending };
  const spaced = settings.flag("add_prefix_space", false);
  const parts = { model, ...around(kind, spaced), decoder: { type: "ByteLevel" } };
  return settings.finish(parts, (idOf) => {
    const required = (role: string): TokenId => requireToken(idOf, role);
    switch (kind) {
      case "roberta":
        return robertaProcessing(required("cls_token"), required("sep_token"), settings.flag("trim_offsets", true), spaced);
      case "clip":
        return robertaProcessing(required("bos_token"), required("eos_token"), false, false);
      case "deberta": {
        const [cls, sep] = [required("cls_token"), required("sep_token")];
        return template([[cls], ["A"], [sep]], [[cls], ["A"], [sep], [sep], ["B"], [sep]]);
      }
      case "gpt2":
      case "qwen2":
        return settings.bosAndEos(idOf);
    }
  });
}

function around(
  kind: BpeKind,
  spaced: boolean,
): { readonly normalizer: ComponentConfig | null; readonly pre_tokenizer: ComponentConfig } {
  switch (kind) {
    case "qwen2":
      return {
        normalizer: { type: "NFC" },
        pre_tokenizer: sequence("pretokenizers", [splitRegex(qwen2Words, "Isolated"), byteLevel(spaced, false)]),
      };
    case "clip":
      return {
        normalizer: sequence("normalizers", [{ type: "NFC" }, replaceRegex("\\s+", " "), { type: "Lowercase" }]),
        pre_tokenizer: sequence("pretokenizers", [splitRegex(clipWords, "Removed", true), byteLevel(false)]),
      };
    case "gpt2":
    case "roberta":
    case "deberta":
      return { normalizer: null, pre_tokenizer: byteLevel(spaced) };
  }
}

/** The ids by token of a vocab.json, validated as in a tokenizer.json. Throws TOKENIZER_INVALID. */
export function parseIds(text: string): ReadonlyMap<string, number> {
  const whole = `{"model":{"type":"BPE","vocab":${text.trim()},"merges":[]}}`;
  return parseTokenizerJson(whole, "vocab.json").model["vocab"] as ReadonlyMap<string, number>;
}

/** The lines of merges.txt, without the one that states a version. */
function getMerges(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .filter((line, index) => line !== "" && !(line.startsWith("#version") || (index === 0 && line.startsWith("#"))));
}
