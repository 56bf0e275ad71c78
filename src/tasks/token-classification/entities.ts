/**
 * From labels of tokens to entities, as transformers' token-classification pipeline makes them. Pure.
 *
 * Labels are read as BIO, BIOES or BILOU: B begins an entity, S and U are one whole, I goes on, E and L end one; a label without such a
 * letter counts as I, as in transformers.
 */

/** "none": tokens. "simple": neighbouring tokens of one kind. The others first settle one label for each word: by its first token, by the mean of its tokens' scores, or by its surest token. */
export type Aggregation = "none" | "simple" | "first" | "average" | "max";

export const aggregations: readonly Aggregation[] = ["none", "simple", "first", "average", "max"];

/** One token that is not a special one. */
export interface TokenScores {
  readonly id: number;
  /** As the vocabulary writes it; for an unknown token the text it stands for. */
  readonly token: string;
  /** Of every label, in the model's order. */
  readonly scores: Float32Array;
  /** Position in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** Whether it goes on with the word of the token before. */
  readonly isSubword: boolean;
  /** Place among the tokens of its window, special tokens counted. */
  readonly index: number;
}

/** Tokens or words with one label. */
export interface LabelledUnit {
  readonly label: string;
  readonly score: number;
  readonly tokens: readonly TokenScores[];
}

/** A run of parts that make one entity. */
export interface EntitySpan {
  /** The label without its letter: "PER". */
  readonly kind: string;
  /** Mean of the parts' scores. */
  readonly score: number;
  readonly tokens: readonly TokenScores[];
  readonly start: number;
  readonly end: number;
}

/** With aggregation "none" `entity` is the label ("B-PER") and `index` the token's place; else `entityGroup` is the kind ("PER"). */
export interface Entity {
  readonly entity?: string;
  readonly entityGroup?: string;
  readonly score: number;
  readonly index?: number;
  /** As the tokenizer writes it back; a model without capitals has none here. `text.slice(start, end)` is what stands there. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export interface Entities {
  /** For each text, in order, its entities from left to right. */
  readonly results: readonly (readonly Entity[])[];
  /** Tokens of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** How many windows the model read of each text. */
  readonly windows: readonly number[];
}

export function labelTokens(tokens: readonly TokenScores[], labels: readonly string[]): LabelledUnit[] {
  return tokens.map((token) => partOf([token], token.scores, labels));
}

/** One part for each word. */
export function labelWords(
  tokens: readonly TokenScores[],
  labels: readonly string[],
  aggregation: Exclude<Aggregation, "none" | "simple">,
): LabelledUnit[] {
  const words: TokenScores[][] = [];
  for (const token of tokens) {
    const word = words.at(-1);
    if (word !== undefined && token.isSubword) word.push(token);
    else words.push([token]);
  }
  return words.map((word) => partOf(word, wordScores[aggregation](word), labels));
}

const wordScores: Readonly<Record<Exclude<Aggregation, "none" | "simple">, (word: readonly TokenScores[]) => Float32Array>> = {
  first: ([first]) => first?.scores ?? new Float32Array(),
  max: (word) => word.reduce((surest, token) => (highest(token.scores) > highest(surest.scores) ? token : surest)).scores,
  average: (word) => {
    const scores = new Float32Array(word[0]?.scores.length ?? 0);
    return scores.map((_score, label) => word.reduce((sum, token) => sum + (token.scores[label] ?? 0), 0) / word.length);
  },
};

/** Neighbouring parts of one kind, put together. */
export function groupEntities(parts: readonly LabelledUnit[]): EntitySpan[] {
  const groups: LabelledUnit[][] = [];
  let open = false;
  for (const part of parts) {
    const { letter, kind } = readLabel(part.label);
    const group = groups.at(-1);
    const before = group?.at(-1);
    const goesOn =
      open && before !== undefined && readLabel(before.label).kind === kind && letter !== "B" && letter !== "S" && letter !== "U";
    if (goesOn) group?.push(part);
    else groups.push([part]);
    open = letter === "B" || letter === "I";
  }
  return groups.map(spanOf);
}

/** Of entities of one kind of reading that overlap (windows of a long text see the same words), the longest stays, then the surest. */
export function resolveOverlaps(spans: readonly EntitySpan[]): EntitySpan[] {
  const kept: EntitySpan[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const before = kept.at(-1);
    if (before === undefined || span.start >= before.end) {
      kept.push(span);
      continue;
    }
    const [length, lengthBefore] = [span.end - span.start, before.end - before.start];
    if (length > lengthBefore || (length === lengthBefore && span.score > before.score)) kept[kept.length - 1] = span;
  }
  return kept;
}

/** A label without the letter that says where in an entity its token is: "PER" of "B-PER". */
export function entityTypeOf(label: string): string {
  return readLabel(label).kind;
}

interface ReadLabel {
  readonly letter: "B" | "I" | "E" | "L" | "S" | "U";
  readonly kind: string;
}

function readLabel(label: string): ReadLabel {
  const groups = /^(?<letter>[BIELSU])-(?<kind>.+)$/s.exec(label)?.groups;
  if (groups === undefined) return { letter: "I", kind: label };
  return { letter: groups["letter"] as ReadLabel["letter"], kind: groups["kind"] ?? "" };
}

function partOf(tokens: readonly TokenScores[], scores: Float32Array, labels: readonly string[]): LabelledUnit {
  const best = scores.reduce((place, score, label) => (score > (scores[place] ?? Number.NEGATIVE_INFINITY) ? label : place), 0);
  return { label: labels[best] ?? `LABEL_${best}`, score: scores[best] ?? Number.NaN, tokens };
}

function spanOf(parts: readonly LabelledUnit[]): EntitySpan {
  const tokens = parts.flatMap((part) => part.tokens);
  return {
    kind: readLabel(parts[0]?.label ?? "").kind,
    score: Math.fround(parts.reduce((sum, part) => sum + part.score, 0) / parts.length),
    tokens,
    start: tokens[0]?.start ?? 0,
    end: tokens.at(-1)?.end ?? 0,
  };
}

function highest(scores: Float32Array): number {
  return scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
}
