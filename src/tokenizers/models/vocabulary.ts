/** The vocabulary and settings of a model in tokenizer.json, which `tokenizer-json.ts` has looked through. */

export type ModelJson = Readonly<Record<string, unknown>>;

export function readVocabulary(model: ModelJson): Map<string, number> {
  return new Map(Object.entries(model["vocab"] as Record<string, number>));
}

/** A text of the model's settings; null and left out are the same. */
export function stringOption(model: ModelJson, name: string): string | undefined {
  const value = model[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`its model has a ${name} that is not a text`);
}

export function booleanOption(model: ModelJson, name: string): boolean {
  const value = model[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new Error(`its model has a ${name} that is neither true nor false`);
}

/** The ids of <0x00> to <0xFF>; -1 where one is missing. */
export function byteTokenIds(vocabulary: ReadonlyMap<string, number>): Int32Array {
  return Int32Array.from({ length: 256 }, (_id, byte) => {
    return vocabulary.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`) ?? -1;
  });
}
