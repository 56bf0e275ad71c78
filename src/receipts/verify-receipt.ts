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
import { type Finding, getVerification, type ReceiptVerification, type Refusal } from "./verification.ts";

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
  const { value } = parsed;
  const refusals = parsed.refusals ?? schemaRefusals(value);
  if (refusals.length > 0 || !isReceipt(value)) return getVerification(refusals);
  const now = (options.now ?? new Date()).getTime();
  return getVerification([
    ...checkForm(receipt, value),
    ...checkSignature(value, options.publicKey),
    ...checkKernels(value, options.requireKernels ?? []),
    ...checkClaims(value),
    ...checkAgreement(value),
    ...checkTimes(value, now),
    ...checkSpeed(value),
    ...(await checkModel(value, options.model)),
    ...(await checkLibrary(value, options.library)),
  ]);
}

function parse(text: string): { readonly value?: unknown; readonly refusals?: readonly Refusal[] } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { refusals: [{ code: "invalid-schema", reason: `it is not JSON: ${getMessage(error)}` }] };
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

function* checkForm(receipt: unknown, value: Receipt): Generator<Refusal> {
  if (typeof receipt !== "string" || receipt === formatReceipt(value)) return;
  const reason = "its text is not spelled as receipts are written: it was reformatted, or has a member twice";
  yield { code: "altered-form", reason };
}

function* checkSignature(receipt: Receipt, publicKey: string | undefined): Generator<Finding> {
  const wanted = publicKey === undefined ? undefined : keyIdOfPem(publicKey);
  const { signature } = receipt;
  if (signature === undefined) {
    if (wanted === undefined) yield { unchecked: "it is not signed: anybody can have written it" };
    else yield { code: "unsigned", reason: "it is not signed, and a key is given" };
    return;
  }
  const { keyId } = signature;
  const problem = signatureProblem(receipt, signature);
  const isOther = wanted !== undefined && wanted !== keyId;
  if (problem !== undefined) yield { code: "altered", reason: problem };
  if (isOther) yield { code: "wrong-key", reason: `it is signed with the key ${keyId}, and the given key is ${wanted}` };
  if (problem !== undefined || isOther) return;
  if (wanted !== undefined) yield { held: `it was signed with the given key, ${keyId}, and not altered` };
  else {
    const notWhose = "whose key that is was not checked: give the public key";
    yield { unchecked: `it was not altered since it was signed with the key ${keyId}; ${notWhose}` };
  }
}

/** Tests, determinism and output. */
function* checkClaims({ tests, determinism, input, output }: Receipt): Generator<Refusal> {
  if (tests.length === 0) yield { code: "failed-tests", reason: "it has no tests" };
  for (const { name, passed, detail } of tests)
    if (!passed) yield { code: "failed-tests", reason: `the test "${name}" failed: ${detail}` };
  const { deterministic, runs } = determinism;
  const same = new Set(runs.map(({ tokensSha256, logitsSha256 }) => `${tokensSha256} ${logitsSha256}`)).size === 1;
  const claim = (found: string): Refusal => ({ code: "nondeterministic", reason: `it claims to be ${found}` });
  if (deterministic && runs.length < 2) yield claim("deterministic after one run");
  else if (deterministic && !same) yield claim("deterministic, and its runs differ");
  else if (!deterministic && same && runs.length > 1) yield claim("nondeterministic, and its runs are equal");
  const digest = outputDigest(input.tokens, output.tokens);
  if (digest !== output.sha256)
    yield { code: "output-digest", reason: `its tokens have the sha256 ${digest}, and it says ${output.sha256}` };
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
