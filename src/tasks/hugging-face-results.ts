/** Results with the field names of Hugging Face's transformers pipelines, for `pipeline()` and for --json of the command line. */
import { omitUndefined } from "../contract/checked.ts";
import type { MaskFill } from "./fill-mask/fill-mask.ts";
import type { Entity } from "./token-classification/entities.ts";

/** One result of the transformers pipeline `token-classification`. */
export interface HuggingFaceEntity {
  /** With aggregation "none": the label of the token, "B-PER". */
  readonly entity?: string;
  /** With any other aggregation: the entity type, "PER". */
  readonly entity_group?: string;
  /** Probability, 0 to 1. */
  readonly score: number;
  /** With aggregation "none": index of the token in its window, special tokens included. */
  readonly index?: number;
  /** The tokens decoded to text. */
  readonly word: string;
  /** Range in the text, in the unit of the option `offsets`. */
  readonly start: number;
  readonly end: number;
}

/** Converts entities to the fields of the transformers pipeline. */
export function toHuggingFaceEntities(entities: readonly Entity[]): HuggingFaceEntity[] {
  return entities.map(({ entity, entityGroup, score, index, word, start, end }) => ({
    ...omitUndefined({ entity, entity_group: entityGroup }),
    score,
    ...omitUndefined({ index }),
    word,
    start,
    end,
  }));
}

/** One result of the transformers pipeline `fill-mask`. */
export interface HuggingFaceFill {
  /** Probability, softmax over the whole vocabulary. */
  readonly score: number;
  /** Vocabulary id of the token. */
  readonly token: number;
  /** The token decoded to text. */
  readonly token_str: string;
  /** The text with the mask replaced by the token. */
  readonly sequence: string;
}

/** Converts the candidates of one text: a list for a text with one mask, a list per mask for several, as the transformers pipeline returns. */
export function toHuggingFaceFills(masks: readonly (readonly MaskFill[])[]): HuggingFaceFill[] | HuggingFaceFill[][] {
  const lists = masks.map((fills) =>
    fills.map(({ score, token, tokenText, sequence }) => ({ score, token, token_str: tokenText, sequence })),
  );
  return lists.length === 1 ? lists.flat() : lists;
}
