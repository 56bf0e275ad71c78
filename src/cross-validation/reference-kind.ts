/** What a model is held against: a target, a recording, or a shared library. */
import { InferyardError, getMessage, invalidInput } from "../contract/errors.ts";
import { openFile } from "../platform/node/files.ts";
import { parseTarget } from "../runtime/targets/target.ts";

/** Kind of the reference. */
export type ReferenceKind = "target" | "recording" | "library";

/** First bytes of shared libraries: ELF, PE, and Mach-O of both byte orders, of 64 bits, and universal. */
const libraryMagics = ["7f454c46", "4d5a", "feedface", "cefaedfe", "feedfacf", "cffaedfe", "cafebabe"];

/**
 * The kind of reference that `against` names. A path has a slash, a backslash or a point, which no target has; the first bytes of the file distinguish a
 * library from a recording. Throws INPUT_INVALID for anything else.
 */
export async function referenceKind(against: string): Promise<ReferenceKind> {
  if (!/[./\\]/.test(against)) {
    parseTarget(against);
    return "target";
  }
  const start = await firstBytes(against);
  if (libraryMagics.some((magic) => start.toString("hex").startsWith(magic))) return "library";
  if (start[headerStart] === "{".charCodeAt(0)) return "recording";
  throw invalidInput(`${against} is neither a recording nor a shared library`, remedy);
}

const remedy = "give a target such as llamacpp:cpu, a recording, or a shared library";

/** Where the header of a safetensors file begins, which is JSON: after its length, in 8 bytes. */
const headerStart = 8;

async function firstBytes(path: string): Promise<Buffer> {
  try {
    const file = await openFile(path);
    try {
      const bytes = Buffer.alloc(headerStart + 1);
      await file.read(bytes, 0, bytes.length, 0);
      return bytes;
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${path} cannot be read: ${getMessage(error)}`, {
      cause: error,
      remedy,
    });
  }
}
