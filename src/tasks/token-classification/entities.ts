/**
 * From token scores to entities, as transformers' token-classification pipeline groups them. Pure functions.
 *
 * Labels may have the tag prefixes of BIO, BIOES or BILOU: B begins an entity, I continues it, E and L end it, S and U are an entity of one
 * token. A label without a prefix counts as I, as in transformers.
 */

/**
 * How tokens are grouped into entities. "none": every token is one. "simple": adjacent tokens of one type are joined. "first", "average" and "max" choose one
 * label per word before joining: the label of its first token, of the mean of its tokens' scores, or of its token with the highest score.
 */
export type Aggregation = "none" | "simple" | "first" | "average" | "max";

/** All values of the option `aggregation`. */
export const aggregations: readonly Aggregation[] = ["none", "simple", "first", "average", "max"];

/** A token of a text, special tokens excluded, with its label probabilities. */
export interface TokenScores {
  /** Vocabulary id. */
  readonly id: number;
  /** The vocabulary entry; for an unknown token the text it covers. */
  readonly token: string;
  /** One probability per label, in the order of the model's `id2label`. */
  readonly scores: Float32Array;
  /** Range in the text, in UTF-16 code units: start included, end excluded. */
  readonly start: number;
  readonly end: number;
  /** Whether it continues the word of the token before. */
  readonly isSubword: boolean;
  /** Index among the tokens of its window, special tokens included. */
  readonly index: number;
}

/** A token or a word, with the label chosen for it. */
export interface LabelledUnit {
  readonly label: string;
  readonly score: number;
  readonly tokens: readonly TokenScores[];
}

/** Consecutive tokens or words that form one entity. */
export interface EntitySpan {
  /** The label without its tag prefix: "PER" of "B-PER". */
  readonly kind: string;
  /** Mean of the scores of its tokens or words. */
  readonly score: number;
  readonly tokens: readonly TokenScores[];
  readonly start: number;
  readonly end: number;
}

/** An entity found in a text. */
export interface Entity {
  /** With aggregation "none": the label of the token, "B-PER". */
  readonly entity?: string;
  /** With any other aggregation: the entity type, "PER". */
  readonly entityGroup?: string;
  /** Probability of the label, 0 to 1; for several tokens their mean. */
  readonly score: number;
  /** With aggregation "none": index of the token in its window, special tokens included. */
  readonly index?: number;
  /** The tokens decoded to text, which an uncased tokenizer gives in lower case. `text.slice(start, end)` is the original. */
  readonly word: string;
  /** Range in the text, in the unit of the option `offsets`: start included, end excluded. */
  readonly start: number;
  readonly end: number;
}

/** Entities of texts, and the number of tokens read of each text. */
export interface Entities {
  /** One list per text, in order; entities from left to right. */
  readonly results: readonly (readonly Entity[])[];
  /** Number of tokens of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Number of windows in which the model read each text. */
  readonly windows: readonly number[];
}

/** Chooses the label with the highest score for every token. */
export function labelTokens(tokens: readonly TokenScores[], labels: readonly string[]): LabelledUnit[] {
  return tokens.map((token) => getPart([token], token.scores, labels));
}

/** Chooses one label per word, by the scores of its tokens combined as `aggregation` states. */
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
  return words.map((word) => getPart(word, wordScores[aggregation](word), labels));
}

const wordScores: Readonly<Record<Exclude<Aggregation, "none" | "simple">, (word: readonly TokenScores[]) => Float32Array>> = {
  first: ([first]) => first?.scores ?? new Float32Array(),
  max: (word) => word.reduce((surest, token) => (highest(token.scores) > highest(surest.scores) ? token : surest)).scores,
  average: (word) => {
    const scores = new Float32Array(word[0]?.scores.length ?? 0);
    return scores.map((_score, label) => word.reduce((sum, token) => sum + (token.scores[label] ?? 0), 0) / word.length);
  },
};

/** Joins adjacent tokens or words of one entity type, as `group_entities` of transformers' pipeline does; a B, S or U tag begins a new entity. */
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
  return groups.map(getSpan);
}

/** Resolves overlaps between the entities of overlapping windows: the longer entity is kept, of equal lengths the one with the higher score. */
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

/** The entity type of a label, without its tag prefix: "PER" of "B-PER". */
export function getEntityType(label: string): string {
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

function getPart(tokens: readonly TokenScores[], scores: Float32Array, labels: readonly string[]): LabelledUnit {
  const best = scores.reduce((place, score, label) => (score > (scores[place] ?? Number.NEGATIVE_INFINITY) ? label : place), 0);
  return { label: labels[best] ?? `LABEL_${best}`, score: scores[best] ?? Number.NaN, tokens };
}

function getSpan(parts: readonly LabelledUnit[]): EntitySpan {
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
  return scores.reduce((max, score) => Math.max(max, score), Number.NEGATIVE_INFINITY);
}
