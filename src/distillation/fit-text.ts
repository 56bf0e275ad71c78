/** Prepares the training texts of a distillation: their tokens, and the vectors of the teacher. */
import { at } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import type { TrainingTexts } from "./cosine-loss.ts";
import { forEachRow, getRow, toUnitLength, zeroMatrix } from "./matrix.ts";
import type { Teacher, TeacherCallOptions } from "./teacher.ts";
import { checkVector } from "./vocabulary-vectors.ts";

/** Longest input of a distilled model in tokens, as in model2vec. */
export const maxTokens = 512;

/**
 * Tokenizes the training texts and embeds them with the teacher; texts without a known token are left out. Throws INPUT_INVALID
 * if fewer than two remain, RUN_FAILED for unusable vectors of the teacher, and ABORTED.
 */
export async function readTrainingTexts(
  teacher: Teacher,
  texts: readonly string[],
  options: TeacherCallOptions,
): Promise<TrainingTexts> {
  const usable: { text: string; tokens: Uint32Array }[] = [];
  await forEachRow(texts.length, 64, options.signal, (index) => {
    const text = at(texts, index);
    const tokens = knownTokens(teacher, text);
    if (tokens.length > 0) usable.push({ text, tokens });
  });
  if (usable.length < 2) {
    throw invalidInput(
      `of ${texts.length} texts to fit to, ${usable.length} have a token that ${teacher.reference} knows`,
      "give at least two lines of text",
    );
  }
  const embedded = await teacher.embedTexts(
    usable.map(({ text }) => text),
    options,
  );
  const vectors = zeroMatrix(usable.length, teacher.dimensions);
  for (const [index, { text }] of usable.entries()) {
    getRow(vectors, index).set(toUnitLength(checkVector(teacher, embedded[index], `the text "${text.slice(0, 40)}"`)));
  }
  return { tokens: usable.map(({ tokens }) => tokens), teacher: vectors };
}

/** The token ids that the distilled model gets for a text: truncated first, then without unknown tokens, as in model2vec. */
export function knownTokens(teacher: Teacher, text: string): Uint32Array {
  return Uint32Array.from(
    teacher
      .tokenize(text)
      .slice(0, maxTokens)
      .filter((id) => id !== teacher.unknownTokenId),
  );
}
