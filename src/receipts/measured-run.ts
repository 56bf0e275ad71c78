/** The runs that a receipt records: greedy ones for determinism, a measured one, and tests of what must hold for every engine. */
import { at } from "../contract/checked.ts";
import { compareLogits, topToken } from "../cross-validation/compare-logits.ts";
import {
  greedyTokens,
  type PromptTokens,
  type LanguageRunLimits,
  type TestedModel,
  withSequences,
} from "../cross-validation/language-run.ts";
import { toSha256 } from "../storage/sha256.ts";
import type { Determinism, ReceiptFigures, ReceiptTest } from "./receipt.ts";

/** A greedy run with all logits. */
export interface GreedyRun {
  readonly tokens: readonly number[];
  /** Logits after the prompt, and after the last token that was read. */
  readonly first: Float32Array;
  readonly last: Float32Array;
  /** Positions whose logits are not all finite. */
  readonly wrongPositions: readonly number[];
}

/** Chooses the most likely token each time, until an end token, which is the last. */
export async function greedyRun(model: TestedModel, prompt: PromptTokens, limits: LanguageRunLimits): Promise<GreedyRun> {
  const wrongPositions: number[] = [];
  let first = new Float32Array();
  let last = new Float32Array();
  const choose = (logits: Float32Array, position: number): number => {
    if (!logits.every((value) => Number.isFinite(value))) wrongPositions.push(position);
    last = logits.slice();
    if (position === 0) first = last;
    return topToken(logits).token;
  };
  const tokens = await greedyTokens(model, prompt, limits, { choose });
  return { tokens, first, last, wrongPositions };
}

/** Results of a measured run. */
export interface MeasuredRun {
  readonly tokens: readonly number[];
  readonly figures: Pick<
    ReceiptFigures,
    | "promptTokens"
    | "generatedTokens"
    | "prefillMs"
    | "decodeMs"
    | "timeToFirstTokenMs"
    | "totalMs"
    | "prefillTokensPerSecond"
    | "decodeTokensPerSecond"
  >;
}

/** A measured greedy run that requests only the highest logits, as greedy generation does. */
export async function measuredRun(model: TestedModel, prompt: PromptTokens, limits: LanguageRunLimits): Promise<MeasuredRun> {
  const started = performance.now();
  let prefilled = started;
  let firstToken = started;
  let ended = started;
  const choose = (logits: Float32Array, position: number): number => {
    ended = performance.now();
    if (position === 0) prefilled = ended;
    const { token } = topToken(logits);
    if (position === 0) firstToken = performance.now();
    return token;
  };
  const tokens = await greedyTokens(model, prompt, limits, { candidates: 1, choose });
  const totalMs = performance.now() - started;
  const prefillMs = prefilled - started;
  const decodeMs = ended - prefilled;
  const promptTokens = prompt.tokens.length;
  return {
    tokens,
    figures: {
      promptTokens,
      generatedTokens: tokens.length,
      prefillMs,
      decodeMs,
      timeToFirstTokenMs: firstToken - started,
      totalMs,
      prefillTokensPerSecond: (promptTokens * 1000) / prefillMs,
      decodeTokensPerSecond: tokens.length < 2 ? null : ((tokens.length - 1) * 1000) / decodeMs,
    },
  };
}

/** Whether several runs gave the same tokens and logits. */
export function computeDeterminism(runs: readonly GreedyRun[]): Determinism {
  const digests = runs.map(({ tokens, last }) => ({
    tokensSha256: toSha256(JSON.stringify(tokens)),
    logitsSha256: toSha256(new Uint8Array(last.buffer, last.byteOffset, last.byteLength)),
  }));
  const [first] = digests;
  const deterministic = digests.every(
    ({ tokensSha256, logitsSha256 }) => tokensSha256 === first?.tokensSha256 && logitsSha256 === first.logitsSha256,
  );
  return { deterministic, runs: digests };
}

/** Number of greedy runs of a receipt, whose tokens are compared with each other. */
export const recordedRuns = 2;

/** Names of the tests of a run, in their order. */
export const testNames = [
  "finite logits",
  "measured run gives the same tokens",
  "token by token equals one call",
  "batch equals serial",
  "another prompt gives other logits",
] as const;

/** Smallest cosine between logits of one model that were computed in two ways. Engines add in a different order for different numbers of rows. */
export const minCosine = 0.999;

/** Tests properties that every engine must have. `runs`: greedy runs of the prompt. */
export async function testRuns(
  model: TestedModel,
  prompt: PromptTokens,
  runs: readonly [GreedyRun, ...GreedyRun[]],
  measured: MeasuredRun,
  signal?: AbortSignal,
): Promise<readonly ReceiptTest[]> {
  const [{ tokens, first }] = runs;
  const wrong = runs.flatMap(({ wrongPositions }) => wrongPositions);
  const same = JSON.stringify(measured.tokens) === JSON.stringify(tokens);
  const positions = `${runs.length * tokens.length} positions`;
  return [
    {
      name: testNames[0],
      passed: wrong.length === 0,
      detail: wrong.length === 0 ? positions : `not finite at generated token ${String(wrong[0])}`,
    },
    { name: testNames[1], passed: same, detail: `${measured.tokens.length} tokens` },
    testCosine(testNames[2], first, await decodeTokenByToken(model, prompt, signal)),
    testCosine(testNames[3], first, await decodeBesideAnother(model, prompt, signal)),
    testDifference(testNames[4], first, await decodeAnotherPrompt(model, prompt, signal)),
  ];
}

type Logits = Promise<Float32Array>;

async function decodeTokenByToken(model: TestedModel, prompt: PromptTokens, signal: AbortSignal | undefined): Logits {
  return withSequences(model, [prompt], signal, async ([sequence = 0], decode) => {
    let logits: Float32Array = new Float32Array();
    for (const token of prompt.tokens) logits = at(await decode([{ sequence, tokens: [token] }]), 0);
    return logits;
  });
}

async function decodeBesideAnother(model: TestedModel, prompt: PromptTokens, signal: AbortSignal | undefined): Logits {
  const { tokens } = prompt;
  return withSequences(model, [prompt, prompt], signal, async ([sequence = 0, other = 0], decode) =>
    at(
      await decode([
        { sequence, tokens },
        { sequence: other, tokens: tokens.toReversed() },
      ]),
      0,
    ),
  );
}

/** The logits after a prompt with another last token. */
async function decodeAnotherPrompt(model: TestedModel, prompt: PromptTokens, signal: AbortSignal | undefined): Logits {
  const last = at(prompt.tokens, prompt.tokens.length - 1);
  const tokens = [...prompt.tokens.slice(0, -1), last === 0 ? 1 : last - 1];
  return withSequences(model, [prompt], signal, async ([sequence = 0], decode) => at(await decode([{ sequence, tokens }]), 0));
}

/** Another prompt must give other logits: code that answers without reading does not. */
function testDifference(name: string, a: Float32Array, b: Float32Array): ReceiptTest {
  const { maxError } = compareLogits(a, b);
  return { name, passed: maxError > 0, detail: `largest difference ${maxError.toPrecision(3)}` };
}

function testCosine(name: string, a: Float32Array, b: Float32Array): ReceiptTest {
  const { cosine, reference, tested } = compareLogits(a, b);
  const detail = `cosine ${cosine.toFixed(8)}, ${reference.token === tested.token ? "same" : "another"} token`;
  return { name, passed: cosine >= minCosine, detail };
}
