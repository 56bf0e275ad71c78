/**
 * Self-test of an engine for GGUF files: the engine and a reference implementation compute a small model with random weights. Their logits are
 * compared after a prompt, in a forked sequence computed together with its parent, and after a truncation. Used by loads, `doctor` and reloads of
 * libraries.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModel, LanguageModelFiles } from "../../contract/backend.ts";
import { type ErrorCode, InferyardError } from "../../contract/errors.ts";
import type { GgufModel } from "../../formats/gguf/models/read-model.ts";
import { relativeDifference } from "../../platform/statistics.ts";
import type { PassedTests } from "../../storage/passed-tests.ts";
import { type SelfTestKind, getKind, kindText, makeModel, selfTestSizes, typesText } from "./self-test-model.ts";
import { ReferenceSequence } from "./self-test-reference.ts";

/** Length of the prompt in tokens. Engines use different kernels for long prompts than for a few tokens, and both must be tested. */
const promptTokens = 40;
/**
 * Largest accepted difference of logits from the reference: the root of its mean square, relative to the standard deviation of the reference's
 * logits. llama.cpp on a CPU differs by at most 0.005 where all weights are numbers in floating point, and by 0.01 to 0.045 where the inputs of
 * products are rounded to 8 bits.
 */
const tolerances = { floats: 0.02, blocks: 0.1 } as const;
const floats = new Set(["F32", "F16", "BF16"]);

/** Loads a model with the engine under test. */
export type OpenModel = (files: LanguageModelFiles) => Promise<LanguageModel>;

/** Result of a passed self-test. */
export interface PassedSelfTest {
  /** Largest relative difference of the logits from the reference. */
  readonly difference: number;
  /** The engine's report of where it computed. */
  readonly evidence: readonly string[];
}

/** Runs the self-test. Throws VERIFICATION_FAILED for wrong logits; errors of the engine are passed on. */
export async function runSelfTest(kind: SelfTestKind, open: OpenModel): Promise<PassedSelfTest> {
  const subject = makeModel(kind);
  const folder = await mkdtemp(join(tmpdir(), "inferyard-self-test-"));
  try {
    const path = join(folder, "model.gguf");
    await writeFile(path, subject.file);
    const model = await open({ format: "gguf", path, bytes: subject.file.length, config: {} });
    try {
      const difference = await compareWithReference(model, kind, new ReferenceSequence(subject)).catch((error: unknown) => {
        if (error instanceof InferyardError && faults.has(error.code)) throw wrong(`cannot be decoded: ${error.message}`);
        throw error;
      });
      return { difference, evidence: await model.evidence() };
    } finally {
      await model.dispose();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the self-test with the types of a user's model before that model is loaded, unless it passed before. `record`: record of passed tests;
 * undefined if results are not stored. Returns a sentence for the decision's evidence. Throws the errors of `runSelfTest`.
 */
export async function proveEngine(model: GgufModel, record: PassedTests | undefined, open: OpenModel): Promise<string> {
  const kind = getKind(model);
  const name = kindText(kind);
  const what = `a tiny ${kind.architecture} with weights in ${typesText(kind)} gives the right logits`;
  if (record?.names.includes(name) === true) return `${what} (remembered from ${record.since?.slice(0, 10) ?? ""})`;
  try {
    const { difference } = await runSelfTest(kind, open);
    record?.add([name]);
    return `${what} (largest difference ${difference.toPrecision(2)} of their deviation)`;
  } catch (error) {
    const isRefused = error instanceof InferyardError && error.code === "MODEL_UNSUPPORTED";
    if (isRefused)
      return `no self-test ran: the engine has no ${kind.architecture} with weights in ${typesText(kind)}: ${error.message}`;
    throw error;
  }
}

/** Error codes that count as a failed self-test: the engine refuses a call that the contract permits. */
const faults: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "RUN_FAILED",
  "INPUT_INVALID",
  "INPUT_TOO_LONG",
  "CONTRACT_VIOLATION",
]);

async function compareWithReference(model: LanguageModel, kind: SelfTestKind, reference: ReferenceSequence): Promise<number> {
  const prompt = Array.from({ length: promptTokens }, (_, index) => 3 + ((index * 97 + 31) % (selfTestSizes.vocabulary - 3)));
  const [one, other] = [101, 260];
  const parent = await model.createSequence();
  const [afterPrompt] = await model.decode([{ sequence: parent, tokens: prompt }]);
  const fork = await model.forkSequence(parent);
  const [ofParent, ofFork] = await model.decode([
    { sequence: parent, tokens: [one] },
    { sequence: fork, tokens: [other] },
  ]);
  await model.truncateSequence(fork, promptTokens - 4);
  const [afterTruncation] = await model.decode([{ sequence: fork, tokens: [...prompt.slice(-4), one] }]);
  reference.append(prompt);
  const tolerance = Object.values(kind.types)
    .flat()
    .every((type) => floats.has(type))
    ? tolerances.floats
    : tolerances.blocks;
  const rows = [
    ["a prompt", afterPrompt, reference.logits],
    ["a token after it, beside a fork", ofParent, reference.fork().append([one]).logits],
    ["a token of a fork", ofFork, reference.fork().append([other]).logits],
    ["a truncation", afterTruncation, reference.fork().append([one]).logits],
  ] as const;
  const differences = rows.map(([what, actual = new Float32Array(), expected]) => {
    const difference = relativeDifference(expected, actual);
    if (difference <= tolerance) return difference;
    const amount = Number.isFinite(difference)
      ? `${difference.toPrecision(2)} of their standard deviation`
      : "more than any number";
    throw wrong(`gives wrong logits after ${what}: they differ by ${amount} from the right ones, and ${tolerance} is permitted`);
  });
  return Math.max(...differences);
}

function wrong(what: string): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", `a tiny model ${what}`, {
    remedy: "use another build of the engine, or another backend",
  });
}
