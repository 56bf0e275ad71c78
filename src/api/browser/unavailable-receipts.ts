/** Functions that compare runs and record them, which read and write files. Each ends in CONFIG_INVALID when it is called. */
import { absent } from "./unavailable.ts";

/** Rejects with CONFIG_INVALID: models are compared with recordings and libraries on a disk. */
export async function crossValidate(): Promise<never> {
  throw absent("crossValidate", "files on a disk", "use it in Node.js: inferyard crossval");
}

/** Rejects with CONFIG_INVALID: a recording is a file. */
export async function recordLogits(): Promise<never> {
  throw absent("recordLogits", "files on a disk", "use it in Node.js: inferyard crossval --record FILE");
}

/** Rejects with CONFIG_INVALID: a receipt has the digests of files. */
export async function createReceipt(): Promise<never> {
  throw absent("createReceipt", "files on a disk", "use it in Node.js: inferyard receipt");
}

/** Rejects with CONFIG_INVALID: receipts are held against files, and signatures are verified by Node.js. */
export async function verifyReceipt(): Promise<never> {
  throw absent("verifyReceipt", "files on a disk", "use it in Node.js: inferyard verify-receipt FILE");
}

/** Throws CONFIG_INVALID: receipts are written in Node.js. */
export function formatReceipt(): never {
  throw absent("formatReceipt", "files on a disk", "use it in Node.js: inferyard receipt");
}
