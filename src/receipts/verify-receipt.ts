/** Verifies a receipt: everything that can be checked is, and every reason to refuse it is told. */
import { InferyardError, getMessage } from "../contract/errors.ts";
import { refuseUnknown } from "../runtime/options/options.ts";
import { checkAgreement } from "./check-agreement.ts";
import { checkSpeed, checkTimes } from "./check-figures.ts";
import { checkModel } from "./check-files.ts";
import { checkKernels } from "./check-kernels.ts";
import { checkLibrary } from "./check-library.ts";
import { outputDigest } from "./create-receipt.ts";
import { type Receipt, receiptFormat, receiptVersion } from "./receipt.ts";
import { isReceipt, receiptProblems } from "./receipt-schema.ts";
import { keyIdOfPem, signatureProblem } from "./signature.ts";
import type { ReceiptVerification, Refusal } from "./verification.ts";

/** Further data that a receipt is compared with. */
export interface VerifyReceiptOptions {
  /** Ed25519 public key in PEM (SPKI) that must have signed it. Default: an unsigned receipt is accepted, and a signature must fit its own key. */
  readonly publicKey?: string | undefined;
  /** Reference of the model whose files must have the digests of the receipt. Default: the path in the receipt, if it exists. */
  readonly model?: string | undefined;
  /** Path of the library, or of its folder, whose files must have the digests in the receipt. Default: the path in the receipt, if it exists. */
  readonly library?: string | undefined;
  /** Ids of kernels that must have run; * matches any characters: "I2S_QK256_*". Default: none. */
  readonly requireKernels?: readonly string[] | undefined;
  /** The current time: times in the receipt must not be later. Default: now. */
  readonly now?: Date | undefined;
}

const optionNames = ["publicKey", "model", "library", "requireKernels", "now"];

/** Spelling of receipts in files: two spaces for each level, and a line feed at the end. */
export function formatReceipt(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/**
 * Verifies a receipt, which is a text of `formatReceipt`, or a value. A text must be equal byte for byte to the text of `formatReceipt`. Throws INPUT_INVALID
 * for a given key, model or library that cannot be read; any problem of the receipt is a refusal.
 */
export async function verifyReceipt(receipt: unknown, options: VerifyReceiptOptions = {}): Promise<ReceiptVerification> {
  refuseUnknown(options, optionNames, "verifyReceipt");
  const parsed = typeof receipt === "string" ? parse(receipt) : { value: receipt };
  if ("refusal" in parsed) return { accepted: false, refusals: [parsed.refusal], held: [], unchecked: [] };
  const { value } = parsed;
  const unknown = schemaRefusals(value);
  if (unknown.length > 0 || !isReceipt(value)) return { accepted: false, refusals: unknown, held: [], unchecked: [] };
  const form: Refusal[] =
    typeof receipt === "string" && receipt !== formatReceipt(value)
      ? [
          {
            code: "altered-form",
            reason: "its text is not spelled as receipts are written: it was reformatted, or has a member twice",
          },
        ]
      : [];
  const signature = checkSignature(value, options.publicKey);
  const files = [await checkModel(value, options.model), await checkLibrary(value, options.library)];
  const now = (options.now ?? new Date()).getTime();
  const refusals = [
    ...form,
    ...signature.refusals,
    ...checkKernels(value, options.requireKernels ?? []),
    ...checkClaims(value),
    ...checkAgreement(value),
    ...checkTimes(value, now),
    ...checkSpeed(value),
    ...files.flatMap((check) => check.refusals),
  ];
  return {
    accepted: refusals.length === 0,
    refusals,
    held: [...signature.held, ...files.flatMap(({ held }) => held)],
    unchecked: [...signature.unchecked, ...speedUnchecked(value), ...files.flatMap(({ unchecked }) => unchecked)],
  };
}

function parse(text: string): { readonly value: unknown } | { readonly refusal: Refusal } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { refusal: { code: "invalid-schema", reason: `it is not JSON: ${getMessage(error)}` } };
  }
}

function schemaRefusals(value: unknown): readonly Refusal[] {
  const { format, schemaVersion } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (format !== receiptFormat || schemaVersion !== receiptVersion) {
    const found = `format ${JSON.stringify(format) ?? "none"} and version ${JSON.stringify(schemaVersion) ?? "none"}`;
    const reason = `it has ${found}, and this program verifies "${receiptFormat}" of version "${receiptVersion}"`;
    return [{ code: "unknown-schema", reason }];
  }
  return receiptProblems(value).map((reason) => ({ code: "invalid-schema", reason }));
}

function checkSignature(
  receipt: Receipt,
  publicKey: string | undefined,
): Pick<ReceiptVerification, "refusals" | "held" | "unchecked"> {
  const wanted = publicKey === undefined ? undefined : keyIdOfPem(publicKey);
  const { signature } = receipt;
  if (signature === undefined) {
    if (wanted === undefined) return { refusals: [], held: [], unchecked: ["it is not signed: anybody can have written it"] };
    return { refusals: [{ code: "unsigned", reason: "it is not signed, and a key is given" }], held: [], unchecked: [] };
  }
  const refusals: Refusal[] = [];
  const problem = signatureProblem(receipt, signature);
  if (problem !== undefined) refusals.push({ code: "altered", reason: problem });
  if (wanted !== undefined && wanted !== signature.keyId)
    refusals.push({ code: "wrong-key", reason: `it is signed with the key ${signature.keyId}, and the given key is ${wanted}` });
  if (refusals.length > 0) return { refusals, held: [], unchecked: [] };
  if (wanted === undefined) {
    const unchecked = [
      `it was not altered since it was signed with the key ${signature.keyId}; whose key that is was not checked: give the public key`,
    ];
    return { refusals, held: [], unchecked };
  }
  return { refusals, held: [`it was signed with the given key, ${signature.keyId}, and not altered`], unchecked: [] };
}

/** Tests, determinism and output. */
function checkClaims({ tests, determinism, input, output }: Receipt): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const failed = tests.filter(({ passed }) => !passed);
  if (tests.length === 0) refusals.push({ code: "failed-tests", reason: "it has no tests" });
  for (const { name, detail } of failed) refusals.push({ code: "failed-tests", reason: `the test "${name}" failed: ${detail}` });
  const { deterministic, runs } = determinism;
  const same = new Set(runs.map(({ tokensSha256, logitsSha256 }) => `${tokensSha256} ${logitsSha256}`)).size === 1;
  if (deterministic && (!same || runs.length < 2)) {
    const reason =
      runs.length < 2 ? "it claims to be deterministic after one run" : "it claims to be deterministic, and its runs differ";
    refusals.push({ code: "nondeterministic", reason });
  }
  if (!deterministic && same && runs.length > 1)
    refusals.push({ code: "nondeterministic", reason: "it claims to be nondeterministic, and its runs are equal" });
  const digest = outputDigest(input.tokens, output.tokens);
  if (digest !== output.sha256)
    refusals.push({ code: "output-digest", reason: `its tokens have the sha256 ${digest}, and it says ${output.sha256}` });
  return refusals;
}

function speedUnchecked({ model, figures }: Receipt): readonly string[] {
  if (model.weightBytesPerToken === null)
    return ["the format of the model does not say how many bytes a token needs: the speed was not held against the memory"];
  if (figures.decodeTokensPerSecond === null) return ["it generated one token, so that there is no speed of decoding"];
  return [];
}

/** Throws VERIFICATION_FAILED with every reason if a receipt is refused. */
export function requireAccepted({ refusals }: ReceiptVerification, name: string): void {
  if (refusals.length === 0) return;
  const reasons = refusals.map(({ code, reason }) => `  ${code}: ${reason}`);
  throw new InferyardError("VERIFICATION_FAILED", [`${name} is refused`, ...reasons].join("\n"), {
    data: { refusals },
    remedy: "record the run again: inferyard receipt",
  });
}
