/** The runs that a receipt records: greedy ones for determinism, a measured one, and tests of what must hold for every engine. */
import { createHash } from "node:crypto";
import { at, omitUndefined } from "../contract/checked.ts";
import { compareLogits, topToken } from "../cross-validation/compare-logits.ts";
import type { PromptTokens, TestedModel } from "../cross-validation/language-run.ts";
import type { Determinism, ReceiptFigures, ReceiptTest } from "./receipt.ts";

/** When a run ends. */
export interface RunLimits {
  readonly maxTokens: number;
  readonly endTokens: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** A greedy run with all logits. */
export interface GreedyRun {
  readonly tokens: readonly number[];
  /** Logits behind the prompt, and behind the last token that was read. */
  readonly first: Float32Array;
  readonly last: Float32Array;
  /** Positions whose logits are not all finite. */
  readonly wrongPositions: readonly number[];
}

/** Chooses the most likely token each time, until an end token, which is the last. */
export async function greedyRun(model: TestedModel, prompt: PromptTokens, limits: RunLimits): Promise<GreedyRun> {
  const tokens: number[] = [];
  const wrongPositions: number[] = [];
  let first = new Float32Array();
  let last = new Float32Array();
  await generate(model, prompt, limits, (logits, position) => {
    if (!logits.every((value) => Number.isFinite(value))) wrongPositions.push(position);
    if (position === 0) first = logits.slice();
    last = logits.slice();
    tokens.push(topToken(logits).token);
  });
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
export async function measuredRun(model: TestedModel, prompt: PromptTokens, limits: RunLimits): Promise<MeasuredRun> {
  const tokens: number[] = [];
  const started = performance.now();
  let prefilled = started;
  let firstToken = started;
  let ended = started;
  await generate(
    model,
    prompt,
    limits,
    (logits, position) => {
      ended = performance.now();
      if (position === 0) prefilled = ended;
      tokens.push(topToken(logits).token);
      if (position === 0) firstToken = performance.now();
    },
    1,
  );
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
    tokensSha256: sha256(JSON.stringify(tokens)),
    logitsSha256: sha256(new Uint8Array(last.buffer, last.byteOffset, last.byteLength)),
  }));
  const [first] = digests;
  const deterministic = digests.every(
    ({ tokensSha256, logitsSha256 }) => tokensSha256 === first?.tokensSha256 && logitsSha256 === first.logitsSha256,
  );
  return { deterministic, runs: digests };
}

/** Hexadecimal SHA-256. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
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
  const [run] = runs;
  const wrong = runs.flatMap(({ wrongPositions }) => wrongPositions);
  const finite = {
    name: testNames[0],
    passed: wrong.length === 0,
    detail:
      wrong.length === 0 ? `${runs.length * run.tokens.length} positions` : `not finite at generated token ${String(wrong[0])}`,
  };
  const same = JSON.stringify(measured.tokens) === JSON.stringify(run.tokens);
  const measuredTest = {
    name: testNames[1],
    passed: same,
    detail: `${measured.tokens.length} tokens`,
  };
  return [
    finite,
    measuredTest,
    await stepsEqualPrefill(model, prompt, run, signal),
    await batchEqualsSerial(model, prompt, run, signal),
    await promptMatters(model, prompt, run, signal),
  ];
}

async function stepsEqualPrefill(
  model: TestedModel,
  prompt: PromptTokens,
  { first }: GreedyRun,
  signal: AbortSignal | undefined,
): Promise<ReceiptTest> {
  const sequence = await model.createSequence(omitUndefined({ source: prompt.source, signal }));
  try {
    let logits: Float32Array = new Float32Array();
    for (const token of prompt.tokens)
      logits = at(await model.decode([{ sequence, tokens: [token] }], omitUndefined({ signal })), 0);
    return cosineTest(testNames[2], first, logits);
  } finally {
    await model.releaseSequence(sequence);
  }
}

async function batchEqualsSerial(
  model: TestedModel,
  prompt: PromptTokens,
  { first }: GreedyRun,
  signal: AbortSignal | undefined,
): Promise<ReceiptTest> {
  const options = omitUndefined({ source: prompt.source, signal });
  const sequences = [await model.createSequence(options), await model.createSequence(options)];
  try {
    const steps = sequences.map((sequence, index) => ({
      sequence,
      tokens: index === 0 ? prompt.tokens : prompt.tokens.toReversed(),
    }));
    const [logits = new Float32Array()] = await model.decode(steps, omitUndefined({ signal }));
    return cosineTest(testNames[3], first, logits);
  } finally {
    for (const sequence of sequences) await model.releaseSequence(sequence);
  }
}

/** Another prompt must give other logits: code that answers without reading does not. */
async function promptMatters(
  model: TestedModel,
  prompt: PromptTokens,
  { first }: GreedyRun,
  signal: AbortSignal | undefined,
): Promise<ReceiptTest> {
  const sequence = await model.createSequence(omitUndefined({ source: prompt.source, signal }));
  try {
    const last = at(prompt.tokens, prompt.tokens.length - 1);
    const tokens = [...prompt.tokens.slice(0, -1), last === 0 ? 1 : last - 1];
    const [logits = new Float32Array()] = await model.decode([{ sequence, tokens }], omitUndefined({ signal }));
    const { maxError } = compareLogits(first, logits);
    return {
      name: testNames[4],
      passed: maxError > 0,
      detail: `largest difference ${maxError.toPrecision(3)}`,
    };
  } finally {
    await model.releaseSequence(sequence);
  }
}

function cosineTest(name: string, a: Float32Array, b: Float32Array): ReceiptTest {
  const { cosine, reference, tested } = compareLogits(a, b);
  const detail = `cosine ${cosine.toFixed(8)}, ${reference.token === tested.token ? "same" : "another"} token`;
  return { name, passed: cosine >= minCosine, detail };
}

async function generate(
  model: TestedModel,
  prompt: PromptTokens,
  { maxTokens, endTokens, signal }: RunLimits,
  onLogits: (logits: Float32Array, position: number) => void,
  candidates?: number,
): Promise<void> {
  const options = omitUndefined({ signal });
  const sequence = await model.createSequence(omitUndefined({ source: prompt.source, signal }));
  try {
    let tokens = prompt.tokens;
    for (let position = 0; position < maxTokens; position += 1) {
      const logits = at(await model.decode([{ sequence, tokens, ...omitUndefined({ candidates }) }], options), 0);
      onLogits(logits, position);
      const { token } = topToken(logits);
      if (endTokens.includes(token)) return;
      tokens = [token];
    }
  } finally {
    await model.releaseSequence(sequence);
  }
}
