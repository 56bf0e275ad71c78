/** Post-processors as templates: the order of texts and special tokens of a single text and of a pair. */
import { type ComponentConfig, componentList } from "../config/component-config.ts";
import { isObject } from "../../contract/shapes/shape.ts";

/**
 * A part of a post-processor's template: the first or second text, or a special token, which may be several ids. `typeId` is the
 * token type of all its tokens.
 */
export type TemplatePart =
  | { readonly sequence: 0 | 1; readonly typeId: number }
  | { readonly ids: readonly number[]; readonly tokens: readonly string[]; readonly typeId: number };

/** The texts and special tokens of an encoding, in order. */
export type PostProcessorTemplate = readonly TemplatePart[];

/**
 * Settings with which a post-processor excludes white space from the offsets of tokens (`trim_offsets` of ByteLevel and
 * RobertaProcessing).
 */
export interface OffsetTrimming {
  /** Whether the pre-tokenizer inserts a space before the first word, which has no counterpart in the text. */
  readonly addPrefixSpace: boolean;
}

/**
 * A post-processor, which adds special tokens (trait `PostProcessor` of the Rust library): the templates of a single text and of
 * a pair, and the trimming of offsets. All kinds of tokenizer.json are converted to this form.
 */
export interface PostProcessor {
  /** Template of a single text. */
  readonly single: PostProcessorTemplate;
  /** Template of a pair; empty if the file has none. */
  readonly pair: PostProcessorTemplate;
  /** Whether texts without special tokens have the type ids 0 and 1, regardless of the templates. */
  readonly plainTypeIds: boolean;
  /** Offset trims, in the order in which they apply. */
  readonly trimming: readonly OffsetTrimming[];
}

const first: TemplatePart = { sequence: 0, typeId: 0 };
const second: TemplatePart = { sequence: 1, typeId: 1 };

/** The post-processor that adds no special tokens and trims no offsets. */
export const noPostProcessor: PostProcessor = { single: [first], pair: [first, second], plainTypeIds: true, trimming: [] };

/** Post-processor `TemplateProcessing`, whose templates are in the file. Throws Error if a template does not have every text exactly once. */
export function templateProcessing(step: ComponentConfig): PostProcessor {
  const special = isObject(step["special_tokens"]) ? step["special_tokens"] : {};
  const template = (name: "single" | "pair"): PostProcessorTemplate =>
    (step[name] === undefined ? [] : Array.isArray(step[name]) ? (step[name] as unknown[]) : [step[name]]).map((part) =>
      getPart(part, special),
    );
  const single = template("single");
  const pair = template("pair");
  if (!keepsOnce(single, 0) || single.some((part) => "sequence" in part && part.sequence === 1))
    throw new Error("its post_processor does not keep the text exactly once");
  if (pair.length > 0 && !(keepsOnce(pair, 0) && keepsOnce(pair, 1)))
    throw new Error("its post_processor does not keep both texts of a pair exactly once");
  return { single, pair, plainTypeIds: false, trimming: [] };
}

function keepsOnce(template: PostProcessorTemplate, sequence: 0 | 1): boolean {
  return template.filter((part) => "sequence" in part && part.sequence === sequence).length === 1;
}

function getPart(part: unknown, special: Readonly<Record<string, unknown>>): TemplatePart {
  if (isObject(part)) {
    const { Sequence: sequence, SpecialToken: token } = part;
    if (isObject(sequence) && (sequence["id"] === "A" || sequence["id"] === "B"))
      return { sequence: sequence["id"] === "A" ? 0 : 1, typeId: getTypeId(sequence) };
    if (isObject(token)) {
      const name = token["id"];
      if (typeof name !== "string")
        throw new Error(
          `its post_processor has a SpecialToken whose "id" is ${shownValue(name)}, and must be the text of a token`,
        );
      const stated = special[name];
      const ids = isObject(stated) && Array.isArray(stated["ids"]) ? (stated["ids"] as unknown[]) : [];
      const tokens = isObject(stated) && Array.isArray(stated["tokens"]) ? (stated["tokens"] as unknown[]) : [name];
      if (ids.length === 0 || !ids.every((id) => Number.isInteger(id)))
        throw new Error(
          `its post_processor puts ${JSON.stringify(name)} around each text, and "special_tokens" states no "ids" for it (whole numbers)`,
        );
      return { ids: ids as number[], tokens: tokens.map(String), typeId: getTypeId(token) };
    }
  }
  throw new Error("its post_processor has a template with a part that is neither a text nor a special token");
}

/** Formats a value of the file for an error message. */
function shownValue(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value).slice(0, 80);
}

function getTypeId(part: Readonly<Record<string, unknown>>): number {
  return typeof part["type_id"] === "number" ? part["type_id"] : 0;
}

/** Post-processors `BertProcessing` ([CLS] A [SEP] B [SEP]) and `RobertaProcessing` (<s> A </s></s> B </s>). */
export function bertProcessing(step: ComponentConfig, kind: "bert" | "roberta"): PostProcessor {
  const [open, close] = [tokenSetting(step, "cls"), tokenSetting(step, "sep")];
  const special = ({ token, id }: { token: string; id: number }, typeId: number): TemplatePart => ({
    ids: [id],
    tokens: [token],
    typeId,
  });
  const single: PostProcessorTemplate = [special(open, 0), first, special(close, 0)];
  if (kind === "bert") {
    return { single, pair: [...single, second, special(close, 1)], plainTypeIds: true, trimming: [] };
  }
  const roberta: TemplatePart = { sequence: 1, typeId: 0 };
  return {
    single,
    pair: [...single, special(close, 0), roberta, special(close, 0)],
    plainTypeIds: false,
    trimming: getOffsetTrimming(step),
  };
}

/** The offset trimming of a component with `trim_offsets` and `add_prefix_space`, which both default to true. */
export function getOffsetTrimming(step: ComponentConfig): readonly OffsetTrimming[] {
  return step["trim_offsets"] === false ? [] : [{ addPrefixSpace: step["add_prefix_space"] !== false }];
}

function tokenSetting(step: ComponentConfig, name: string): { token: string; id: number } {
  const value = step[name];
  if (Array.isArray(value)) {
    const [token, id] = value as unknown[];
    if (typeof token === "string" && Number.isInteger(id)) return { token, id: Number(id) };
    throw new Error(`${step.type} has the "${name}" ${shownValue(value)}, which must be a list of a text and a whole number`);
  }
  throw new Error(`${step.type} needs "${name}" to be a token and its id`);
}

/** Post-processor `Sequence`. Throws Error if more than one of its components adds special tokens. */
export function combineProcessors(step: ComponentConfig, read: (step: ComponentConfig) => PostProcessor): PostProcessor {
  const processors = componentList(step, "processors").map(read);
  const framing = processors.filter(({ single }) => single.length > 1 || single !== noPostProcessor.single);
  if (framing.length > 1) throw new Error("its post_processor adds special tokens twice, which is not supported");
  return { ...(framing[0] ?? noPostProcessor), trimming: processors.flatMap(({ trimming }) => trimming) };
}
