/** Returns pages of engine memory to the operating system: Linux, with koffi. A browser has src/composition/browser/page-discard.ts instead. */
import type { DiscardPages } from "../../engine/index.ts";
import { ForeignFunctions, cLibraryPath } from "../../libraries/ffi/index.ts";

/** madvise(2): the pages are freed, and read as zeros when they are next touched. */
const dontNeed = 4;

let opened: Promise<DiscardPages | undefined> | undefined;

/** Prepares `madvise`, once. Undefined on other systems and without koffi: memory that a model has freed then stays with its process. */
export const openPageDiscard: (() => Promise<DiscardPages | undefined>) | undefined = () => (opened ??= open());

async function open(): Promise<DiscardPages | undefined> {
  if (process.platform !== "linux") return undefined;
  try {
    const ffi = await ForeignFunctions.load();
    const madvise = ffi.open(cLibraryPath()).bind("madvise", { result: "int32", parameters: ["pointer", "size", "int32"] });
    return (buffer, start, bytes) => void madvise(ffi.addressOf(buffer as ArrayBuffer) + BigInt(start), bytes, dontNeed);
  } catch {
    return undefined; // koffi is not installed
  }
}
