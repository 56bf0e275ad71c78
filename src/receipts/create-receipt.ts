/** Records a real run of a language model. */
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { type PromptTokens, requireRoom, type LanguageRunLimits, type TestedModel } from "../cross-validation/language-run.ts";
import { promptTokens, readTokenFacts, type TokenFacts } from "../cross-validation/loaded-language.ts";
import { invalidInput, quoteOption, unsupportedModel } from "../contract/errors.ts";
import { measuredMachine } from "../speed-records/machine.ts";
import { usualKind } from "../models/language-tasks.ts";
import { languageVariants } from "../models/manifest/language-variants.ts";
import type { Manifest } from "../models/manifest.ts";
import type { Decision } from "../runtime/decision/decision.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { version } from "../version.ts";
import { getComputePath, countsBetween } from "./kernel-class.ts";
import { toSha256 } from "../storage/sha256.ts";
import { computeDeterminism, greedyRun, measuredRun, testRuns } from "./measured-run.ts";
import { measureBandwidth } from "./memory-bandwidth.ts";
import { type ReceiptModelFacts, readModelFacts } from "./model-facts.ts";
import { type PeakMemory, type Receipt, type ReceiptMachine, receiptFormat, receiptVersion } from "./receipt.ts";
import { signReceipt } from "./signature.ts";

/** Which run is recorded. */
export interface ReceiptOptions {
  /** Reference of a language model. */
  readonly model: string;
  readonly variant?: string | undefined;
  /** Targets of which one must run it. Default: selection decides. */
  readonly target?: string | readonly string[] | undefined;
  /** A text, or token ids. Default: "Once upon a time". */
  readonly prompt?: string | readonly number[] | undefined;
  /** Tokens to generate, at most; it stops after an end token. Default: 32. */
  readonly tokens?: number | undefined;
  /** Ed25519 private key in PEM (PKCS #8), with which the receipt is signed. Default: it is not signed. */
  readonly privateKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const optionNames = ["model", "variant", "target", "prompt", "tokens", "privateKey", "signal"];
const defaultPrompt = "Once upon a time";
const defaultTokens = 32;

/**
 * Runs a language model and records what ran it, where, with which kernels, how fast, and whether it gave the same twice. The model is generated from greedily: twice with
 * all logits, and once measured. The receipt says what happened, also where a test failed: `verifyReceipt` judges it.
 *
 * Throws INPUT_INVALID for a model that is no language model, for wrong options and for a key that is no Ed25519 key, and errors of loading a model.
 */
export async function createReceipt(runtime: Runtime, options: ReceiptOptions): Promise<Receipt> {
  refuseUnknown(options, optionNames, "createReceipt");
  const { model, variant, target, prompt = defaultPrompt, tokens = defaultTokens, privateKey, signal } = options;
  if (!Number.isSafeInteger(tokens) || tokens < 1) throw invalidInput(`tokens is ${tokens}`, "give a whole number above 0");
  const manifest = await runtime.manifest(model, omitUndefined({ variant, signal }));
  if (usualKind(manifest) === "tensor") {
    throw invalidInput(
      `${model} is not a language model, and receipts record runs of language models`,
      "inferyard verify tests models of other kinds",
    );
  }
  const tokenFacts = await readTokenFacts(manifest);
  const machine = await machineFacts(runtime);
  const startedAt = new Date();
  const loading = performance.now();
  const handle = await runtime.load(model, { kind: "language", ...omitUndefined({ variant, target, signal }) });
  try {
    const loadMs = performance.now() - loading;
    const read = promptTokens(tokenFacts, prompt, handle.language.limits);
    const run = await recordRuns(handle, read, { maxTokens: tokens, endTokens: tokenFacts.config.endTokens, signal });
    const finishedAt = new Date();
    const { measured, peakMemory, ...recorded } = run;
    const files = await getFacts(manifest, handle);
    const input = { prompt: typeof prompt === "string" ? prompt : null, tokens: read.source ?? read.tokens };
    const receipt: Receipt = {
      format: receiptFormat,
      schemaVersion: receiptVersion,
      id: crypto.randomUUID(),
      startedAt: startedAt.toISOString(),
      finishedAt: finishedAt.toISOString(),
      inferyardVersion: version,
      machine,
      library: getLibrary(handle.decision),
      model: { reference: model, name: manifest.name, ...files },
      decision: handle.decision,
      computePath: getComputePath(handle.target, run.kernels),
      ...recorded,
      figures: { loadMs, ...measured.figures, peakMemory },
      input,
      output: getOutput(input.tokens, measured.tokens, tokenFacts),
    };
    // Through JSON, as a file holds it: what is signed is what is read back.
    const plain = JSON.parse(JSON.stringify(receipt)) as Receipt;
    return privateKey === undefined ? plain : signReceipt(plain, privateKey);
  } finally {
    await handle.dispose();
  }
}

async function machineFacts(runtime: Runtime): Promise<ReceiptMachine> {
  const facts = await runtime.machine();
  return { ...measuredMachine(facts), features: facts.cpu.features.value, bandwidth: measureBandwidth() };
}

/** Makes the runs between two counts of the kernels, so that the receipt has the kernels of these runs and no others. */
async function recordRuns(
  handle: ModelHandle,
  prompt: PromptTokens,
  limits: LanguageRunLimits,
): Promise<
  Pick<Receipt, "kernels" | "tests" | "determinism"> & {
    readonly measured: Awaited<ReturnType<typeof measuredRun>>;
    readonly peakMemory: PeakMemory;
  }
> {
  const model: TestedModel = handle.language;
  requireRoom(model, prompt.tokens.length + limits.maxTokens - 1, `${handle.reference} on ${handle.target}`);
  const before = (await handle.kernelCounts()) ?? [];
  const first = await greedyRun(model, prompt, limits);
  const second = await greedyRun(model, prompt, limits);
  const measured = await measuredRun(model, prompt, limits);
  const tests = await testRuns(model, prompt, [first, second], measured, limits.signal);
  const kernels = countsBetween(before, (await handle.kernelCounts()) ?? []);
  return { kernels, tests, determinism: computeDeterminism([first, second]), measured, peakMemory: getPeakMemory(handle) };
}

/** The library of a decision. The backend `library` gives the path and the digest of its file as evidence. */
function getLibrary({ selected }: Decision): Receipt["library"] {
  const library = selected?.library ?? { name: "unknown", version: "unknown" };
  for (const sentence of selected?.evidence ?? []) {
    const [, path, sha256] = /^(.+), sha256 ([0-9a-f]{64})\b/.exec(sentence) ?? [];
    if (path !== undefined && sha256 !== undefined) return { ...library, path, sha256 };
  }
  return library;
}

function getPeakMemory({ memory: { bytes, measure } }: ModelHandle): PeakMemory {
  if (measure === "resident") return { bytes, of: "child process" };
  return { bytes: process.resourceUsage().maxRSS * 1024, of: "process" };
}

async function getFacts({ variants }: Manifest, { decision }: ModelHandle): Promise<ReceiptModelFacts> {
  const { variant: name } = decision.model;
  const variant = languageVariants(variants).find((each) => each.name === name);
  if (variant !== undefined) return readModelFacts(variant);
  // A variant that is packed while loading is not in the manifest: its files are those of the variant that it is packed from.
  const source = languageVariants(variants).find((each) => each.name === decision.model.packedFrom);
  if (source === undefined || (name !== "int8" && name !== "int4"))
    throw unsupportedModel(`the files of the variant ${name ?? "?"} are not known`, `name another ${quoteOption("variant")}`);
  return readModelFacts({ ...source, packing: { to: name, from: source.name, bytes: 0 } });
}

function getOutput(input: readonly number[], tokens: readonly number[], { tokenizer }: TokenFacts): Receipt["output"] {
  const text = tokenizer === undefined ? null : tokenizer.decode(tokens, { skipSpecialTokens: false });
  return { tokens, text, sha256: outputDigest(input, tokens) };
}

/** The digest of the tokens of input and output. */
export function outputDigest(input: readonly number[], output: readonly number[]): string {
  return toSha256(JSON.stringify([input, output]));
}
