/**
 * Verification of a language model by agreement: the same tokens are computed in several ways whose logits must be equal. It finds caches, forks, truncations, batches and
 * saved states that are wrong. It cannot find an operation that is wrong in the same way each time.
 */
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import { required } from "../../contract/checked.ts";
import type { LanguageModelLimits, SequenceId } from "../../contract/language-model.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import type { Variant } from "../../models/manifest.ts";

/** What is verified of a language model. */
export type VerifiableLanguageModel = Pick<
  HostedLanguageModel,
  | "createSequence"
  | "decode"
  | "forkSequence"
  | "truncateSequence"
  | "saveSequence"
  | "restoreSequence"
  | "releaseSequence"
  | "limits"
>;

/** Result of `verifyAgreement`. */
export interface Agreement {
  /** Number of rows of logits that were compared with a row computed in another way. 0: the context is too short. */
  readonly rows: number;
  /** Largest difference of two rows that must be equal, relative to the standard deviation of the logits. */
  readonly difference: number;
  /** false: the logits after a token were the same after two different prompts, as in a model without attention. */
  readonly readsContext: boolean;
}

/** Tokens of the longest sequence of the verification. */
const longestSequence = 6;

/**
 * Largest accepted difference of two rows of logits: the root of the mean square of their difference, relative to their standard deviation. Rows of unrelated sequences
 * differ by about 1.4. Tiny models differ by 1e-7 to 1e-4 between one call and several, with caches in half precision as well.
 */
const usualTolerance = 0.05;
/** Graphs in ONNX with integer weights, which may quantize all tokens of a call with one scale: tiny ones differ by 0.04. */
const quantizedTolerance = 0.3;

/** The tolerance for a variant of a model. */
export function agreementTolerance({ format, precision }: Pick<Variant, "format" | "precision">): number {
  const isQuantized = format === "onnx" && (precision === undefined || precision.startsWith("int"));
  return isQuantized ? quantizedTolerance : usualTolerance;
}

/** Errors of an engine that refuses a call which the contract permits. */
const faults: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "RUN_FAILED",
  "INPUT_INVALID",
  "INPUT_TOO_LONG",
  "CONTRACT_VIOLATION",
]);

/**
 * Computes 20 tokens in 6 calls: a prompt, and a token after it and another after its fork, in one call; the first of both sequences in one call, beside a shorter prompt; the second
 * after a truncation; the shorter prompt alone; and a sequence and its copy from saved bytes. All logits must be finite, and those of one sequence must agree. Of a model whose context is shorter than 6 tokens, the first of them are computed. Throws VERIFICATION_FAILED that says which two ways
 * differ, or which call the engine refuses; other errors, such as those of a host that died, are thrown as they are.
 */
export async function verifyAgreement(
  model: VerifiableLanguageModel,
  tolerance: number,
  signal?: AbortSignal,
): Promise<Agreement> {
  const sequences = new VerifiedSequences(model, signal);
  try {
    return await compareWays(sequences, model.limits, tolerance);
  } catch (error) {
    if (!(error instanceof InferyardError) || !faults.has(error.code)) throw error;
    throw failed(`the engine refuses a call that each language model must answer: ${error.message}`, error);
  } finally {
    await sequences.releaseAll();
  }
}

async function compareWays(
  sequences: VerifiedSequences,
  { vocabulary, contextLength }: LanguageModelLimits,
  tolerance: number,
): Promise<Agreement> {
  const [prompt, begin] = [probeTokens(vocabulary, 1, 4), probeTokens(vocabulary, 2, 2)];
  const [first = 0, second = 0, third = 0] = probeTokens(vocabulary, 3, 3);
  const other = [...begin, first];
  const parent = await sequences.create("first");
  if (contextLength !== undefined && contextLength < longestSequence) {
    await sequences.decode([[parent, prompt.slice(0, contextLength)]]);
    return { rows: 0, difference: 0, readsContext: true };
  }
  const differences: number[] = [];
  const compare = (ways: string, one: Float32Array, another: Float32Array): void => {
    const difference = relativeDifference(one, another);
    differences.push(difference);
    if (difference <= tolerance) return;
    const amount = Number.isFinite(difference)
      ? `${difference.toPrecision(2)} of their standard deviation`
      : "more than any number";
    throw failed(`${ways} give other logits: they differ by ${amount}, and ${tolerance} is permitted`);
  };
  await sequences.decode([[parent, prompt]]);
  const fork = await sequences.fork(parent);
  const [ofParent, ofFork] = await sequences.decode([
    [parent, [first]],
    [fork, [second]],
  ]);
  const [whole, beside] = [await sequences.create("first"), await sequences.create("second")];
  const [atOnce, ofOther] = await sequences.decode([
    [whole, [...prompt, first]],
    [beside, other],
  ]);
  compare("tokens in one call, and the last of them in a call of its own beside a fork,", atOnce, ofParent);
  await sequences.truncate(whole, prompt.length);
  const [afterTruncation] = await sequences.decode([[whole, [second]]]);
  compare("a fork, and a sequence with the same tokens after a truncation,", ofFork, afterTruncation);
  for (const each of [parent, fork, beside]) await sequences.release(each);
  const again = await sequences.create("second");
  const [alone] = await sequences.decode([[again, other]]);
  compare("a prompt beside another one, and the same prompt alone,", ofOther, alone);
  const copy = await sequences.copyBySaving(whole);
  const [ofWhole, ofCopy] = await sequences.decode([
    [whole, [third]],
    [copy, [third]],
  ]);
  compare("a sequence, and its copy from saved bytes,", ofWhole, ofCopy);
  return { rows: differences.length, difference: Math.max(...differences), readsContext: !isSame(ofOther, ofParent) };
}

/** Which source an encoder reads: they have unequal lengths, since engines pad sources. */
type Source = "first" | "second";

/** The sequences of one verification. */
class VerifiedSequences {
  readonly #model: VerifiableLanguageModel;
  readonly #options: { readonly signal?: AbortSignal };
  readonly #alive = new Set<SequenceId>();

  constructor(model: VerifiableLanguageModel, signal: AbortSignal | undefined) {
    this.#model = model;
    this.#options = signal === undefined ? {} : { signal };
  }

  async create(source: Source): Promise<SequenceId> {
    const { hasEncoder, vocabulary } = this.#model.limits;
    const tokens = source === "first" ? probeTokens(vocabulary, 4, 3) : probeTokens(vocabulary, 5, 2);
    return this.#add(await this.#model.createSequence({ ...this.#options, ...(hasEncoder ? { source: tokens } : {}) }));
  }

  async fork(sequence: SequenceId): Promise<SequenceId> {
    return this.#add(await this.#model.forkSequence(sequence));
  }

  async copyBySaving(sequence: SequenceId): Promise<SequenceId> {
    return this.#add(await this.#model.restoreSequence(await this.#model.saveSequence(sequence)));
  }

  async truncate(sequence: SequenceId, length: number): Promise<void> {
    await this.#model.truncateSequence(sequence, length);
  }

  /** Appends tokens to one or two sequences. Returns their logits, which are finite. */
  async decode(steps: readonly Step[]): Promise<readonly [Float32Array, Float32Array]> {
    const rows = await this.#model.decode(
      steps.map(([sequence, tokens]) => ({ sequence, tokens })),
      this.#options,
    );
    const { vocabulary } = this.#model.limits;
    const isSound = (row: Float32Array): boolean => row.length === vocabulary && row.every(Number.isFinite);
    if (rows.length !== steps.length || !rows.every(isSound))
      throw failed("probe tokens gave logits that are not finite numbers");
    const [first, second = first] = rows;
    return [required(first, "logits"), required(second, "logits")];
  }

  async release(sequence: SequenceId): Promise<void> {
    this.#alive.delete(sequence);
    await this.#model.releaseSequence(sequence);
  }

  /** Frees what is left. What fails is not reported: the verification has failed before, or the model is disposed next. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#alive].map((sequence) => this.release(sequence)));
  }

  #add(sequence: SequenceId): SequenceId {
    this.#alive.add(sequence);
    return sequence;
  }
}

type Step = readonly [sequence: SequenceId, tokens: readonly number[]];

/** Tokens from the middle half of the vocabulary, since its ends hold control tokens and unused ones. The same each time. */
function probeTokens(vocabulary: number, seed: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    const part = ((seed * 0.618_034 + (index + 1) * 0.414_214) % 1) / 2; // multiples of irrational numbers spread evenly
    return Math.floor(vocabulary * (0.25 + part));
  });
}

/** Root of the mean square of the difference of two rows, relative to the standard deviation of the first one. NaN counts as infinite. */
function relativeDifference(expected: Float32Array, actual: Float32Array): number {
  const mean = expected.reduce((sum, logit) => sum + logit, 0) / expected.length;
  let [error, variance] = [0, 0];
  for (const [index, logit] of expected.entries()) {
    error += ((actual[index] ?? Number.NaN) - logit) ** 2;
    variance += (logit - mean) ** 2;
  }
  if (error === 0) return 0;
  const difference = Math.sqrt(error / variance);
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
}

function isSame(one: Float32Array, another: Float32Array): boolean {
  return one.length > 1 && one.every((logit, index) => Object.is(logit, another[index]));
}

function failed(reason: string, cause?: InferyardError): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", reason, {
    remedy: "try another variant or backend",
    ...(cause === undefined ? {} : { cause }),
  });
}
