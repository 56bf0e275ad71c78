/** Embeds every token of the vocabulary, each alone between the special tokens of the teacher. */
import { InferyardError, throwIfAborted } from "../contract/errors.ts";
import { zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import type { Teacher, TeacherCallOptions } from "./teacher.ts";

/** The vectors that the teacher gives the tokens of its vocabulary. */
export interface VocabularyVectors {
  /** One row per token id, as long as the vectors of the teacher; zeros for ids that are not included. */
  readonly vectors: Matrix;
  /** 1 for an id that has a vector; 0 for ids without a token and for BERT's placeholders "[unused12]". */
  readonly include: Uint8Array;
  /** Number of ids that have a vector. */
  readonly count: number;
}

/** Tokens per call of the teacher. */
const batchSize = 256;

/**
 * Embeds every token of the teacher's vocabulary that represents text, each as a separate input. Throws TOKENIZER_INVALID if there is no such token, RUN_FAILED
 * for unusable vectors of the teacher, and ABORTED.
 */
export async function vocabularyVectors(teacher: Teacher, options: TeacherCallOptions): Promise<VocabularyVectors> {
  const { vocabulary, dimensions } = teacher;
  const ids = [...vocabulary.keys()].filter((id) => isText(vocabulary[id] ?? ""));
  if (ids.length === 0) {
    throw new InferyardError("TOKENIZER_INVALID", `the tokenizer of ${teacher.reference} has no tokens`, {
      remedy: "check the model's tokenizer.json",
    });
  }
  const vectors = zeroMatrix(vocabulary.length, dimensions);
  const include = new Uint8Array(vocabulary.length);
  for (let start = 0; start < ids.length; start += batchSize) {
    throwIfAborted(options.signal);
    const batch = ids.slice(start, start + batchSize);
    const embedded = await teacher.embedTokenIds(
      batch.map((id) => [id]),
      options.signal === undefined ? {} : { signal: options.signal },
    );
    for (const [index, id] of batch.entries()) {
      vectors.data.set(checkVector(teacher, embedded[index], `token ${id} "${vocabulary[id]}"`), id * dimensions);
      include[id] = 1;
    }
    options.onProgress?.(start + batch.length, ids.length);
  }
  return { vectors, include, count: ids.length };
}

/**
 * Returns a vector of the teacher. Throws RUN_FAILED, with `input` in the message, if it is missing, has another length, or is
 * not finite.
 */
export function checkVector(teacher: Teacher, vector: Float32Array | undefined, input: string): Float32Array {
  if (vector?.length === teacher.dimensions && vector.every(Number.isFinite)) return vector;
  const found =
    vector === undefined ? "no vector" : vector.length === teacher.dimensions ? "NaN or an infinity" : `${vector.length} numbers`;
  throw new InferyardError(
    "RUN_FAILED",
    `${teacher.reference} gave ${found} for ${input}, and ${teacher.dimensions} numbers are needed`,
    {
      remedy: "try another target or variant for the teacher",
    },
  );
}

function isText(token: string): boolean {
  return token !== "" && !/^\[unused\d+\]$/.test(token);
}
