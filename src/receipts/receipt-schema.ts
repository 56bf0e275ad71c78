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
  .strictObject({ memory: z.number().positive(), cache: z.number().positive() })
  .describe("Bytes per second that one thread moved when it copied memory, each byte read and written.");

const machine = z.strictObject({
  processor: z.string(),
  cores: z.int().positive(),
  quota: z.number().positive(),
  memoryBytes: z.int().positive(),
  platform: z.string(),
  architecture: z.string(),
  node: z.string(),
  accelerators: z.array(z.strictObject({ device: z.string(), name: z.string(), driver: z.string().optional() })),
  features: z.array(z.string()),
  bandwidth,
});

const receipt = z.strictObject({
  format: z.literal(receiptFormat),
  schemaVersion: z.literal(receiptVersion),
  id: z.uuid(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  inferyardVersion: z.string(),
  machine,
  library: z.strictObject({
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
  }),
  model: z.strictObject({
    reference: z.string(),
    name: z.string(),
    files: z
      .array(z.strictObject({ name: z.string(), bytes: count, sha256 }))
      .min(1)
      .max(maxItems),
    weightTypes: z.array(z.strictObject({ type: z.string(), bytes: count })),
    weightBytesPerToken: count.nullable().describe("Bytes of weights that must be read for each token, at least."),
  }),
  decision: decisionSchema(),
  computePath: z.strictObject({
    target: z.string(),
    kind: z.enum(["fast", "mixed", "slow", "uncounted"]),
    fastCalls: count,
    slowCalls: count,
  }),
  kernels: z.array(z.strictObject({ id: z.string().min(1).max(200), calls: z.int().positive() })).max(maxItems),
  tests: z.array(z.strictObject({ name: z.string(), passed: z.boolean(), detail: z.string() })).max(maxItems),
  determinism: z.strictObject({
    deterministic: z.boolean(),
    runs: z
      .array(z.strictObject({ tokensSha256: sha256, logitsSha256: sha256 }))
      .min(1)
      .max(maxItems),
  }),
  figures: z.strictObject({
    loadMs: amount,
    promptTokens: count,
    generatedTokens: count,
    prefillMs: amount,
    decodeMs: amount,
    timeToFirstTokenMs: amount,
    totalMs: amount,
    prefillTokensPerSecond: amount,
    decodeTokensPerSecond: amount.nullable(),
    peakMemory: z.strictObject({ bytes: count, of: z.enum(["process", "child process"]) }),
  }),
  input: z.strictObject({ prompt: z.string().nullable(), tokens: z.array(token).min(1).max(maxItems) }),
  output: z.strictObject({ tokens: z.array(token).max(maxItems), text: z.string().nullable(), sha256 }),
  signature: z
    .strictObject({
      algorithm: z.literal("Ed25519"),
      canonicalization: z.literal("RFC8785"),
      publicKey: z.string().describe("SPKI in PEM."),
      keyId: sha256.describe("SHA-256 of the public key in SPKI DER."),
      value: z.string().describe("Base64."),
    })
    .optional()
    .describe("Over the canonical form of the receipt with this field without `value`."),
});

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
