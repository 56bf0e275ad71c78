/** What the verification of a receipt says. */

/** Why a receipt is refused. docs/guide/cross-validation.md explains each. */
export type RefusalCode =
  | "unknown-schema"
  | "invalid-schema"
  | "altered-form"
  | "no-kernels"
  | "slow-kernels"
  | "required-kernel"
  | "expected-kernel"
  | "impossible-kernel"
  | "compute-path"
  | "model-digest"
  | "library-digest"
  | "failed-tests"
  | "nondeterministic"
  | "impossible-speed"
  | "impossible-times"
  | "output-digest"
  | "contradiction"
  | "in-the-future"
  | "unsigned"
  | "altered"
  | "wrong-key";

/** One reason to refuse a receipt. */
export interface Refusal {
  readonly code: RefusalCode;
  /** Reason, as a sentence without a full stop. */
  readonly reason: string;
}

/** What a check of a receipt found: a reason to refuse it, what holds, or what could not be checked. Sentences without a full stop. */
export type Finding = Refusal | { readonly held: string } | { readonly unchecked: string };

/** The verdict on a receipt. */
export interface ReceiptVerification {
  /** Whether there is no reason to refuse it. */
  readonly accepted: boolean;
  readonly refusals: readonly Refusal[];
  /** Comparisons that hold, as sentences. */
  readonly held: readonly string[];
  /** Properties that could not be checked, as sentences: missing files, a missing signature. */
  readonly unchecked: readonly string[];
}

/** The verdict that follows from what the checks found. */
export function getVerification(findings: readonly Finding[]): ReceiptVerification {
  const refusals = findings.filter((each) => "code" in each);
  return {
    accepted: refusals.length === 0,
    refusals,
    held: findings.flatMap((each) => ("held" in each ? each.held : [])),
    unchecked: findings.flatMap((each) => ("unchecked" in each ? each.unchecked : [])),
  };
}
