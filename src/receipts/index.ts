/** Receipts: records of real runs, signed on request, and their verification. */
export { createReceipt, type ReceiptOptions } from "./create-receipt.ts";
export type {
  ComputePath,
  Determinism,
  MemoryBandwidth,
  PeakMemory,
  Receipt,
  ReceiptFigures,
  ReceiptFile,
  ReceiptMachine,
  ReceiptModel,
  ReceiptOutput,
  ReceiptSignature,
  ReceiptTest,
} from "./receipt.ts";
export type { ReceiptVerification, Refusal, RefusalCode } from "./verification.ts";
export { formatReceipt, verifyReceipt, type VerifyReceiptOptions } from "./verify-receipt.ts";
