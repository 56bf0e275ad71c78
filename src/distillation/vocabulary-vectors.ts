/** Every token of the vocabulary through the teacher, each alone between the teacher's special tokens. */
import { InferyardError, throwIfAborted } from "../errors.ts";
import { zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import type { Teacher, TeacherCallOptions } from "./teacher.ts";

export interface VocabularyVectors {
  /** [tokens, teacher's dimensions]; zeros for tokens that are left out. */
  readonly vectors: Matrix;
  /** 1 for a token that has a vector, 0 for one left out: ids without a token, and BERT's placeholders "[unused12]". */
  readonly include: Uint8Array;
  /** How many have one. */
  readonly count: number;
}

/** Tokens given to the teacher at a time. */
const batchSize = 256;

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

/** The vector, if it is one of the teacher's: RUN_FAILED names the input whose vector is missing, too short or not finite. */
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
