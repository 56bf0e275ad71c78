/**
 * Verification of a language model by agreement: the same tokens are computed in several ways, which must give equal logits. Detects errors in KV
 * caches, forks, truncations and batches. Cannot detect an operation that gives the same wrong result each time.
 */
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import { required, omitUndefined } from "../../contract/checked.ts";
import type { LanguageModelLimits, SequenceId, SequenceOptions } from "../../contract/language-model.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import { relativeDifference } from "../../platform/statistics.ts";
import type { Variant } from "../../models/manifest.ts";

/** The members of a language model that the verification uses. */
export type VerifiableLanguageModel = Pick<
  HostedLanguageModel,
  "createSequence" | "decode" | "forkSequence" | "truncateSequence" | "releaseSequence" | "limits"
>;

/** Result of `verifyAgreement`. */
export interface Agreement {
  /** Number of compared pairs of logit rows. 0: the context length is too short for a comparison. */
  readonly rows: number;
  /** Largest difference between two rows that should be equal, relative to the standard deviation of the logits. */
  readonly difference: number;
  /** false: the logits after a token were the same after two different prompts, as in a model without attention. */
  readonly readsContext: boolean;
}

/** Length of the longest sequence in the verification, in tokens. */
const longestSequence = 5;

/**
 * Maximum accepted difference between two rows of logits: root mean square of the difference, relative to the standard deviation. Unrelated sequences
 * differ by about 1.4. Tiny models differ by 1e-7 to 1e-4 between one call and several calls, also with KV caches in half precision.
 */
const usualTolerance = 0.05;
/**
 * Tolerance for ONNX graphs with integer weights, which may quantize the activations of all tokens of a call with one scale. Tiny models differ by
 * 0.04.
 */
const quantizedTolerance = 0.3;

/** The tolerance for a variant, by its format and precision. */
export function agreementTolerance({ format, precision }: Pick<Variant, "format" | "precision">): number {
  const isQuantized = format === "onnx" && (precision === undefined || precision.startsWith("int"));
  return isQuantized ? quantizedTolerance : usualTolerance;
}

/** Error codes that count as verification failures: the engine refuses a call that the contract permits. */
const faults: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "RUN_FAILED",
  "INPUT_INVALID",
  "INPUT_TOO_LONG",
  "CONTRACT_VIOLATION",
]);

/**
 * Computes 18 tokens in 5 calls. (1) A prompt. (2) One token after the prompt and a different token after its fork, in one call. (3) Prompt and first
 * token in one call, together with a shorter prompt. (4) The second token after a truncation to the prompt. (5) The shorter prompt alone.
 * All logits must be finite, and logits after the same tokens must be equal. For a model
 * with a context shorter than 5 tokens, only a prompt is decoded and no logits are compared. Throws VERIFICATION_FAILED, which names the two calls
 * that differ or the call that the engine refuses. Other errors, such as the death of a host process, are passed on.
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
  const [first = 0, second = 0] = probeTokens(vocabulary, 3, 2);
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
  return { rows: differences.length, difference: Math.max(...differences), readsContext: !isSame(ofOther, ofParent) };
}

/** What the encoder of a probe reads: `tokens`, or features that are all 0; nothing for a model without an encoder. */
export function probeSource(
  { hasEncoder, features }: Pick<LanguageModelLimits, "hasEncoder" | "features">,
  tokens: readonly number[],
): Pick<SequenceOptions, "source" | "features"> {
  if (features !== undefined) return { features: new Float32Array(features.bins * features.frames) };
  return hasEncoder ? { source: tokens } : {};
}

/** Source text that the encoder reads. The two sources have different lengths, to test the padding of sources. */
type Source = "first" | "second";

/** Creates, decodes and releases the sequences of one verification. */
class VerifiedSequences {
  readonly #model: VerifiableLanguageModel;
  readonly #options: { readonly signal?: AbortSignal };
  readonly #alive = new Set<SequenceId>();
  /** An empty sequence whose source was encoded. */
  #encoded: SequenceId | undefined;

  constructor(model: VerifiableLanguageModel, signal: AbortSignal | undefined) {
    this.#model = model;
    this.#options = signal === undefined ? {} : { signal };
  }

  /** Features are encoded once, since that may take a second: all other sequences are forks of an empty one. */
  async create(source: Source): Promise<SequenceId> {
    const { vocabulary, features } = this.#model.limits;
    if (features !== undefined && this.#encoded !== undefined) return this.fork(this.#encoded);
    const tokens = source === "first" ? probeTokens(vocabulary, 4, 3) : probeTokens(vocabulary, 5, 2);
    const created = this.#add(await this.#model.createSequence({ ...this.#options, ...probeSource(this.#model.limits, tokens) }));
    if (features === undefined) return created;
    this.#encoded = created;
    return this.fork(created);
  }

  async fork(sequence: SequenceId): Promise<SequenceId> {
    return this.#add(await this.#model.forkSequence(sequence));
  }

  async truncate(sequence: SequenceId, length: number): Promise<void> {
    await this.#model.truncateSequence(sequence, length);
  }

  /** Appends tokens to one or two sequences in one call. Returns their logits. Throws VERIFICATION_FAILED if logits are not finite. */
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

  /** Releases the remaining sequences. Errors are ignored: the verification has already failed, or the model is disposed next. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#alive].map((sequence) => this.release(sequence)));
  }

  #add(sequence: SequenceId): SequenceId {
    this.#alive.add(sequence);
    return sequence;
  }
}

type Step = readonly [sequence: SequenceId, tokens: readonly number[]];

/** Deterministic token ids from the middle half of the vocabulary, since control tokens and unused tokens are at its ends. */
export function probeTokens(vocabulary: number, seed: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => {
    const part = ((seed * 0.618_034 + (index + 1) * 0.414_214) % 1) / 2; // multiples of irrational numbers spread evenly
    return Math.floor(vocabulary * (0.25 + part));
  });
}

function isSame(one: Float32Array, another: Float32Array): boolean {
  return one.length > 1 && one.every((logit, index) => Object.is(logit, another[index]));
}

function failed(reason: string, cause?: InferyardError): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", reason, {
    remedy: "try another variant or backend",
    ...omitUndefined({ cause }),
  });
}
