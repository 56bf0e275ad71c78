/** Results with the field names of Hugging Face's transformers pipelines, for `pipeline()` and for --json of the command line. */
import { omitUndefined } from "../contract/checked.ts";
import type { MaskFill } from "./fill-mask/fill-mask.ts";
import type { Entity } from "./token-classification/entities.ts";

/** One result of the transformers pipeline `token-classification`. */
export interface HuggingFaceEntity extends Omit<Entity, "entityGroup"> {
  /** With any other aggregation than "none": the entity type, "PER". */
  readonly entity_group?: string;
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
export interface HuggingFaceFill extends Omit<MaskFill, "tokenText"> {
  /** The token decoded to text. */
  readonly token_str: string;
}

/** Converts the candidates of one text: a list for a text with one mask, a list per mask for several, as the transformers pipeline returns. */
export function toHuggingFaceFills(masks: readonly (readonly MaskFill[])[]): HuggingFaceFill[] | HuggingFaceFill[][] {
  const lists = masks.map((fills) =>
    fills.map(({ score, token, tokenText, sequence }) => ({ score, token, token_str: tokenText, sequence })),
  );
  return lists.length === 1 ? lists.flat() : lists;
}
