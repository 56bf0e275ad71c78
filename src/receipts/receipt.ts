/** The receipt: the record of one real run of a language model. Plain data that survives JSON; `schemas/receipt.json` describes it. */

/** Values of `format` and `schemaVersion` in receipts of this version. */
export const receiptFormat = "inferyard-receipt";
export const receiptVersion = "1.0.0";

export type * from "./generated-receipt.ts";
