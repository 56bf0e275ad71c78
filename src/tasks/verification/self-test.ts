/** Self-test of a loaded embedding model (`inferyard verify`): known answers, repeatability, and independence of the batch. */
import { cosineSimilarity } from "../embedding/cosine.ts";
import type { KnownAnswer, Manifest } from "../../models/manifest.ts";
import type { Embeddings } from "../embedding/embeddings.ts";
import { maxAbsDifference } from "./known-answers.ts";

/** Result of a self-test. */
export interface SelfTest {
  /** Whether all checks passed. */
  readonly passed: boolean;
  readonly checks: readonly SelfTestCheck[];
  /** Duration of the whole test. */
  readonly milliseconds: number;
}

/** Result of one check. */
export interface SelfTestCheck {
  readonly name: string;
  /** true, too, for a check that there was nothing to make with. */
  readonly passed: boolean;
  /** Whether there was nothing to check. Default: false. */
  readonly skipped?: boolean;
  /** The measured value, for people. */
  readonly detail: string;
}

type Embed = (texts: readonly string[]) => Promise<Embeddings>;

const sampleTexts = ["A cat sits on the mat.", "Der Zug fährt um neun.", "東京", "", "one two three ".repeat(60)];

/** Minimum cosine between a vector computed in a batch and alone. int8 models scale activations per batch, which changes them (MiniLM int8: 0.972). */
const batchCosine = 0.95;

/** Runs all checks with the given embedding function. `given`: known answers in addition to those of the manifest. */
export async function selfTest(embed: Embed, manifest: Manifest, given: readonly KnownAnswer[]): Promise<SelfTest> {
  const started = performance.now();
  const own = manifest.probe?.kind === "text" ? manifest.probe.answers : [];
  const checks = [await againstAnswers(embed, [...own, ...given]), await repeats(embed), await batchEqualsSingles(embed)];
  return { passed: checks.every(({ passed }) => passed), checks, milliseconds: performance.now() - started };
}

async function againstAnswers(embed: Embed, answers: readonly KnownAnswer[]): Promise<SelfTestCheck> {
  const name = "known answers";
  if (answers.length === 0) return { name, passed: true, skipped: true, detail: "there are none: give some with --answers" };
  const failures: string[] = [];
  let worst = 0;
  for (const { text, embedding, tolerance } of answers) {
    const { embeddings } = await embed([text]);
    const difference = maxAbsDifference(embedding, embeddings[0] ?? new Float32Array());
    worst = Math.max(worst, difference);
    if (!(difference <= tolerance)) failures.push(`"${text.slice(0, 30)}" is off by ${difference.toPrecision(2)}`);
  }
  const held = `${answers.length - failures.length} of ${answers.length} hold, largest difference ${worst.toPrecision(2)}`;
  return { name, passed: failures.length === 0, detail: [held, ...failures.slice(0, 3)].join("; ") };
}

async function repeats(embed: Embed): Promise<SelfTestCheck> {
  const name = "same answer twice";
  const [first, second] = [await embed(sampleTexts), await embed(sampleTexts)];
  const differences = first.embeddings.map((vector, index) =>
    maxAbsDifference(vector, second.embeddings[index] ?? new Float32Array()),
  );
  const worst = Math.max(...differences);
  return { name, passed: worst <= 1e-6, detail: `largest difference ${worst.toPrecision(2)}` };
}

async function batchEqualsSingles(embed: Embed): Promise<SelfTestCheck> {
  const name = "batch equals one by one";
  const { embeddings } = await embed(sampleTexts);
  const cosines: number[] = [];
  for (const [index, text] of sampleTexts.entries()) {
    const single = (await embed([text])).embeddings[0] ?? new Float32Array();
    cosines.push(cosine(embeddings[index] ?? new Float32Array(), single));
  }
  const lowest = Math.min(...cosines);
  return { name, passed: lowest >= batchCosine, detail: `lowest cosine ${lowest.toFixed(6)}` };
}

/** Cosine of two vectors of the test: two zero vectors are equal; NaN, which fails the check, if only one is zero. */
function cosine(a: Float32Array, b: Float32Array): number {
  return cosineSimilarity(a, b) ?? (a.every((value) => value === 0) && b.every((value) => value === 0) ? 1 : Number.NaN);
}
