/**
 * Returns free pages of engine memory to the operating system. Needs Linux and koffi. Builds for browsers use src/composition/browser/page-discard.ts
 * instead.
 */
import type { DiscardPages } from "../../engine/index.ts";
import { ForeignFunctions, cLibraryPath } from "../../libraries/ffi/index.ts";

/** Advice MADV_DONTNEED of madvise(2): frees the pages, which read as zeros afterwards. */
const dontNeed = 4;

let opened: Promise<DiscardPages | undefined> | undefined;

/**
 * Loads the system function `madvise`, once. Undefined on systems other than Linux and without koffi; memory that a model has freed then stays with
 * the process.
 */
export const openPageDiscard: (() => Promise<DiscardPages | undefined>) | undefined = () => (opened ??= open());

async function open(): Promise<DiscardPages | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    const ffi = await ForeignFunctions.load();
    const madvise = ffi.open(cLibraryPath()).bind("madvise", { result: "int32", parameters: ["pointer", "size", "int32"] });
    return (buffer, start, bytes) => void madvise(ffi.getAddress(buffer as ArrayBuffer) + BigInt(start), bytes, dontNeed);
  } catch {
    return undefined; // koffi is not installed
  }
}
