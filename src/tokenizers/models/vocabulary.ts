/** Typed access to a model in tokenizer.json, whose vocabulary `tokenizer-json.ts` has validated. */

/** The field `model` of a tokenizer.json. */
export type ModelJson = Readonly<Record<string, unknown>>;

/** The ids by token of a model whose `vocab` is no list. */
export function readVocabulary(model: ModelJson): ReadonlyMap<string, number> {
  return model["vocab"] as ReadonlyMap<string, number>;
}

/** Reads a string setting of a model; undefined if missing or null. Throws Error for any other type. */
export function stringOption(model: ModelJson, name: string): string | undefined {
  const value = model[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`its model has a ${name} that is not a text`);
}

/** Reads a boolean setting of a model; false if missing or null. Throws Error for any other type. */
export function booleanOption(model: ModelJson, name: string): boolean {
  const value = model[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new Error(`its model has a ${name} that is neither true nor false`);
}

/** The ids of the byte tokens <0x00> to <0xFF>, indexed by byte; -1 for a token that the vocabulary lacks. */
export function byteTokenIds(vocabulary: ReadonlyMap<string, number>): Int32Array {
  return Int32Array.from({ length: 256 }, (_id, byte) => {
    return vocabulary.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`) ?? -1;
  });
}
