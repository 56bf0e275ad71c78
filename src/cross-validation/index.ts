/** Cross-validation: two runs of one model, compared token by token. */
export { crossValidate, recordLogits } from "./cross-validate.ts";
export type { LogitsComparison, TopToken } from "./compare-logits.ts";
export type * from "./cross-validation.ts";
export type { TokensPerSecond } from "./language-run.ts";
