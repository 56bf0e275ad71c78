/** The zod schema of receipts, from which `npm run schemas` makes `schemas/receipt.json`. */
import * as z from "zod";
import { schemaProblems } from "../models/validation/schema-problems.ts";
import { decisionSchema } from "../runtime/decision/decision-schema.ts";
import { type Receipt, receiptFormat, receiptVersion } from "./receipt.ts";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();
const amount = z.number().nonnegative();
const token = z.int().nonnegative();

/** Maximum number of tokens, kernels, files and tests that a receipt lists: a file from elsewhere must not cost more than it is worth. */
const maxItems = 1_000_000;

const bandwidth = z
  .strictObject({
    memory: z.number().positive().describe("From one large buffer to another, which no cache holds."),
    cache: z.number().positive().describe("Within the cache of one core."),
  })
  .describe("Bytes per second that one thread moved when it copied memory: each byte is read and written, and counts twice.");

const machine = z
  .strictObject({
    processor: z.string(),
    cores: z.int().positive(),
    quota: z.number().positive(),
    memoryBytes: z.int().positive(),
    platform: z.string(),
    architecture: z.string(),
    node: z.string(),
    accelerators: z.array(z.strictObject({ device: z.string(), name: z.string(), driver: z.string().optional() })),
    features: z.array(z.string()).describe("Instruction sets in the vendor's spelling."),
    bandwidth,
  })
  .describe("The machine that ran it.");

const file = z
  .strictObject({ name: z.string().describe("Name without folders."), bytes: count, sha256 })
  .describe("A file of the model.");

const model = z
  .strictObject({
    reference: z.string(),
    name: z.string(),
    files: z.array(file).min(1).max(maxItems),
    weightTypes: z
      .array(z.strictObject({ type: z.string(), bytes: count }))
      .describe(
        "Types of the weights as they are in the files, the one with the most bytes first. Empty if the format does not list them.",
      ),
    weightBytesPerToken: count
      .nullable()
      .describe("Minimum number of weight bytes that must be read for each token. Null if the format does not state it."),
  })
  .describe("The model that ran.");

const computePath = z
  .strictObject({
    target: z.string().describe("Target that ran it."),
    kind: z
      .enum(["fast", "mixed", "slow", "uncounted"])
      .describe(
        '"fast": all calls were of kernels; "mixed": some were of scalar code or the interpreter; "slow": all were; "uncounted": the engine does not count its kernels.',
      ),
    fastCalls: count,
    slowCalls: count,
  })
  .describe("Where the run was computed, taken from the kernels that were counted.");

const test = z
  .strictObject({ name: z.string(), passed: z.boolean(), detail: z.string().describe("The measured value, for people.") })
  .describe("A test of the run.");

const determinism = z
  .strictObject({
    deterministic: z.boolean().describe("Whether all runs gave the same tokens and the same logits, bit for bit."),
    runs: z
      .array(z.strictObject({ tokensSha256: sha256, logitsSha256: sha256 }))
      .min(1)
      .max(maxItems)
      .describe("One entry for each run: digest of its tokens, and of the bits of its last logits."),
  })
  .describe("Comparison of several runs with the same input.");

const peakMemory = z
  .strictObject({ bytes: count, of: z.enum(["process", "child process"]) })
  .describe("Peak resident memory: of this process with all its threads, or of the child process that holds the model alone.");

const figures = z
  .strictObject({
    loadMs: amount,
    promptTokens: count,
    generatedTokens: count,
    prefillMs: amount.describe(
      "Milliseconds until the logits for the position after the prompt, from which the first token is chosen.",
    ),
    decodeMs: amount.describe("Milliseconds from the first token's logits until the last token's logits."),
    timeToFirstTokenMs: amount,
    totalMs: amount,
    prefillTokensPerSecond: amount,
    decodeTokensPerSecond: amount
      .nullable()
      .describe("Tokens after the first, divided by the time they took. Null if there was one token."),
    peakMemory,
  })
  .describe("Measurements of the run.");

const output = z
  .strictObject({
    tokens: z.array(token).max(maxItems),
    text: z.string().nullable(),
    sha256: sha256.describe("Digest of the tokens of input and output: of their JSON, as [input, output]."),
  })
  .describe("Generated tokens and text.");

const signature = z
  .strictObject({
    algorithm: z.literal("Ed25519"),
    canonicalization: z.literal("RFC8785"),
    publicKey: z.string().describe("The public key: SPKI in PEM."),
    keyId: sha256.describe("SHA-256 of the public key in SPKI DER, hexadecimal."),
    value: z.string().describe("The signature in base64."),
  })
  .describe("An Ed25519 signature (RFC 8032) over the canonical form (RFC 8785) of the receipt with this field without `value`.");

const receipt = z
  .strictObject({
    format: z.literal(receiptFormat),
    schemaVersion: z.literal(receiptVersion),
    id: z.uuid(),
    startedAt: z.iso.datetime().describe("When the run began."),
    finishedAt: z.iso.datetime().describe("When it had ended."),
    inferyardVersion: z.string().describe("Version of this package."),
    machine,
    library: z
      .strictObject({
        name: z.string(),
        version: z.string(),
        files: z
          .array(z.strictObject({ name: z.string(), sha256 }))
          .min(1)
          .max(maxItems)
          .optional()
          .describe("All files of native code that compute: the library and what it loads."),
        path: z.string().optional(),
        sha256: sha256.optional(),
      })
      .describe(
        "The engine's library, with the files that it loads if the engine reports them. `path` and `sha256` are set for a library file named by the user.",
      ),
    model,
    decision: decisionSchema(),
    computePath,
    kernels: z
      .array(z.strictObject({ id: z.string().min(1).max(200), calls: z.int().positive() }))
      .max(maxItems)
      .describe("Kernels that ran between `startedAt` and `finishedAt`, as the engine counted them. Empty if it does not count."),
    tests: z.array(test).max(maxItems),
    determinism,
    figures,
    input: z.strictObject({ prompt: z.string().nullable(), tokens: z.array(token).min(1).max(maxItems) }),
    output,
    signature: signature.optional().describe("Signature of the receipt. Absent: it is not signed."),
  })
  .describe("The record of one run. Times are ISO 8601 in UTC, durations are in milliseconds, digests are hexadecimal SHA-256.");

/** The schemas of receipts by the names of their types. */
export const receiptTypes: Readonly<Record<string, z.ZodType>> = {
  Receipt: receipt,
  ReceiptMachine: machine,
  MemoryBandwidth: bandwidth,
  ReceiptModel: model,
  ReceiptFile: file,
  ComputePath: computePath,
  ReceiptTest: test,
  Determinism: determinism,
  ReceiptFigures: figures,
  PeakMemory: peakMemory,
  ReceiptOutput: output,
  ReceiptSignature: signature,
};

/** Sentences about deviations from the schema; empty for a receipt. */
export function receiptProblems(value: unknown): readonly string[] {
  return schemaProblems(receipt, value);
}

/** Whether a value is as the schema has it. */
export function isReceipt(value: unknown): value is Receipt {
  return receipt.safeParse(value).success;
}

/** The JSON schema of a receipt. */
export function receiptJsonSchema(): Record<string, unknown> {
  return { title: "Receipt", ...z.toJSONSchema(receipt) };
}
