/**
 * Results as the pipelines of Hugging Face's transformers name them, for the command line's --json and for `pipeline`: programs that read
 * those read ours.
 */
import type { MaskFill } from "../fill-mask/fill-mask.ts";
import type { Entity } from "../token-classification/entities.ts";

/** An entity of the pipeline "token-classification". */
export interface HuggingFaceEntity {
  /** With aggregation "none": the label, "B-PER". */
  readonly entity?: string;
  /** Else the kind, "PER". */
  readonly entity_group?: string;
  readonly score: number;
  /** With aggregation "none": the token's place. */
  readonly index?: number;
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export function toHuggingFaceEntities(entities: readonly Entity[]): HuggingFaceEntity[] {
  return entities.map(({ entity, entityGroup, score, index, word, start, end }) => ({
    ...(entity === undefined ? {} : { entity }),
    ...(entityGroup === undefined ? {} : { entity_group: entityGroup }),
    score,
    ...(index === undefined ? {} : { index }),
    word,
    start,
    end,
  }));
}

/** A token of the pipeline "fill-mask". */
export interface HuggingFaceFill {
  readonly score: number;
  readonly token: number;
  readonly token_str: string;
  readonly sequence: string;
}

/** One list for a text with one mask, a list of lists for a text with several: as that pipeline gives it. */
export function toHuggingFaceFills(masks: readonly (readonly MaskFill[])[]): HuggingFaceFill[] | HuggingFaceFill[][] {
  const lists = masks.map((fills) =>
    fills.map(({ score, token, tokenText, sequence }) => ({ score, token, token_str: tokenText, sequence })),
  );
  return lists.length === 1 ? lists.flat() : lists;
}
