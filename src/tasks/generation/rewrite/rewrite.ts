/** Summarizes, translates and otherwise rewrites texts with models that have an encoder and a decoder. */
import { omitUndefined } from "../../../contract/checked.ts";
import { type InferyardError, invalidInput, unsupportedModel } from "../../../contract/errors.ts";
import type { Manifest, Variant } from "../../../models/manifest.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import type { PrepareCall, PreparedPrompts, PromptSettings, TextGenerator } from "../text-generator.ts";
import type { GenerationOptions } from "../sampling/generated-generation-options.ts";
import { readGenerationConfig } from "../sampling/generation-config.ts";
import type { RewriteOptions } from "./generated-rewrite-options.ts";

/** Texts to rewrite, and for whom. */
export interface Rewriting {
  readonly texts: readonly string[];
  readonly options: RewriteOptions;
  readonly call: PrepareCall;
}

/** Prepares texts. Throws MODEL_UNSUPPORTED for a decoder alone, and INPUT_INVALID for a task or a language that the model does not have. */
export async function prepareRewrite(
  generator: TextGenerator,
  manifest: Manifest,
  { texts, options, call }: Rewriting,
): Promise<PreparedPrompts> {
  const { task, prefix, sourceLanguage, targetLanguage, stream: _stream, ...generation } = options;
  const { limits, tokenizer } = generator;
  if (!limits.hasEncoder) throw cannotRewrite(manifest, "encoder", "use `generate` or `chat`");
  if (tokenizer === undefined) throw cannotRewrite(manifest, "tokenizer.json", "add the file");
  const stated = taskFields(manifest, task);
  const before = prefix ?? (typeof stated["prefix"] === "string" ? stated["prefix"] : "");
  const languages = new Languages(tokenizer, manifest, sourceLanguage, targetLanguage);
  const prompts = texts.map((text) => languages.encode(before + text));
  return generator.prepare(prompts, { ...toOptions(stated, generation), ...generation }, languages.settings, call);
}

/** Throws MODEL_UNSUPPORTED for a model whose class is decoder-only, before the model is loaded. */
export function requireRewriteEncoder(manifest: Manifest): void {
  const isDecoder = ({ architecture = "" }: Variant): boolean => /(?:ForCausalLM|LMHeadModel)$/.test(architecture);
  if (manifest.variants.every(isDecoder)) throw cannotRewrite(manifest, "encoder", "use `generate` or `chat`");
}

function cannotRewrite({ name }: Manifest, lacks: string, remedy: string): InferyardError {
  return unsupportedModel(`${name} has no ${lacks}, so it cannot rewrite texts`, remedy);
}

/** The fields of a task in `task_specific_params`. */
function taskFields({ name, generation = {} }: Manifest, task: string | undefined): Readonly<Record<string, unknown>> {
  if (task === undefined) return {};
  const all = generation["task_specific_params"];
  const known = typeof all === "object" && all !== null ? (all as Readonly<Record<string, unknown>>) : {};
  const fields = Object.hasOwn(known, task) ? known[task] : undefined;
  if (typeof fields === "object" && fields !== null) return fields as Readonly<Record<string, unknown>>;
  const names = Object.keys(known);
  throw invalidInput(
    `${name} states no task "${task}" in task_specific_params`,
    names.length === 0 ? "leave task out, or give prefix" : `its tasks are ${names.join(", ")}`,
  );
}

/**
 * Converts generation settings of a task to generation options. Settings without an equivalent option are ignored, and settings of beam search unless
 * there are several beams.
 */
function toOptions(fields: Readonly<Record<string, unknown>>, given: GenerationOptions): GenerationOptions {
  const { maxLength, numBeams, lengthPenalty, earlyStopping, noRepeatNgramSize, minLength } = readGenerationConfig(fields);
  const hasBeams = (given.numBeams ?? numBeams ?? 1) > 1;
  return {
    ...omitUndefined({ maxNewTokens: maxLength, minNewTokens: minLength, numBeams }),
    ...(lengthPenalty === undefined || !hasBeams ? {} : { lengthPenalty }),
    ...(earlyStopping === undefined || !hasBeams ? {} : { earlyStopping }),
    ...omitUndefined({ noRepeatNgramSize }),
  };
}

/** How a model is told languages: by tokens of its vocabulary, in one of the ways of Marian, mBART, mBART-50, M2M-100 and NLLB. */
class Languages {
  readonly settings: PromptSettings;
  readonly #tokenizer: Tokenizer;
  readonly #encodeTokens: ((ids: readonly number[]) => readonly number[]) | undefined;
  readonly #prefix: string = "";

  constructor(tokenizer: Tokenizer, manifest: Manifest, source: string | undefined, target: string | undefined) {
    this.#tokenizer = tokenizer;
    this.settings = {};
    const marian = target === undefined ? undefined : tokenizer.tokenToId(`>>${target}<<`);
    if (marian !== undefined && source === undefined) {
      this.#prefix = `>>${target ?? ""}<< `; // the encoder's first token, where one model translates into several languages
      return;
    }
    if (source === undefined && target === undefined) return;
    const targetToken = target === undefined ? undefined : this.#languageToken(target, manifest.name);
    const sourceToken = source === undefined ? undefined : this.#languageToken(source, manifest.name);
    const isMBart = manifest.text?.tokenizerConfig["tokenizer_class"] === "MBartTokenizer";
    if (targetToken !== undefined)
      this.settings = isMBart ? { decoderStartToken: targetToken } : { forcedFirstToken: targetToken };
    const end = readGenerationConfig(manifest.generation ?? {}).endTokens.slice(0, 1);
    if (sourceToken !== undefined)
      this.#encodeTokens = (ids) => (isMBart ? [...ids, ...end, sourceToken] : [sourceToken, ...ids, ...end]);
  }

  /** The encoder's tokens of a text, or the text itself where the tokenizer adds all special tokens. */
  encode(text: string): string | readonly number[] {
    if (this.#encodeTokens === undefined) return this.#prefix + text;
    const options = { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY };
    return this.#encodeTokens(this.#tokenizer.encode(text, options).ids);
  }

  #languageToken(language: string, model: string): number {
    const token = this.#tokenizer.tokenToId(language) ?? this.#tokenizer.tokenToId(`__${language}__`);
    if (token !== undefined) return token;
    throw invalidInput(
      `${model} has no token for the language "${language}"`,
      'name languages as the model\'s vocabulary does, such as "eng_Latn" (NLLB), "en" (M2M-100), "en_XX" (mBART)',
    );
  }
}
