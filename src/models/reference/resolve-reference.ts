/** Resolves model references: the strings by which a user names a model. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InferyardError, messageOf } from "../../errors.ts";
import { nearestName } from "../validation/nearest-name.ts";
import type { ModelLocation, ResolveOptions } from "./model-location.ts";
import { canonicalName, isRemote, parseRemote } from "./remote-reference.ts";

/** Folder of the built-in model, beside both `src` and `dist`. */
const builtinPath = fileURLToPath(new URL("../../../builtin", import.meta.url));

/**
 * Resolves a model reference to a location: `builtin`, a path (absolute, relative, or below ~),
 * `hf:owner/name[@revision][:variant]`, a URL with a digest, or a name in the store. A path that exists takes precedence over a
 * name in the store. Throws MODEL_NOT_FOUND for an unknown name and for a model that is not in the store, and INPUT_INVALID for a
 * malformed reference. Whether a reference that can only be a path exists is not checked.
 */
export async function resolveReference(reference: string, options: ResolveOptions = {}): Promise<ModelLocation> {
  if (reference === "builtin") return { path: builtinPath, shown: reference };
  if (reference.trim() === "") throw notFound("no model was named", 'give "builtin" or the path of a model');
  const path = isRemote(reference) ? undefined : pathOf(reference);
  if (path !== undefined && (looksLikePath(reference) || existsSync(path))) return { path, shown: reference };
  // Imported on demand: a path does not need the store.
  const { storedNames, locateStored } = await import("../store/locate.ts");
  const stored = await locateStored(reference, options);
  if (stored !== undefined) return stored;
  throw unknownModel(reference, await storedNames(options.dataFolder));
}

/**
 * The canonical form of a model reference, equal for all spellings of the same model, by which the settings for one model are
 * found. A local reference becomes an absolute path, a remote one loses its variant, and one that cannot be resolved is returned
 * unchanged. Nothing is fetched.
 */
export async function canonicalReference(reference: string): Promise<string> {
  try {
    if (reference === "builtin") return builtinPath;
    if (isRemote(reference)) return canonicalName(parseRemote(reference));
    const path = pathOf(reference);
    if (looksLikePath(reference) || existsSync(path)) return path;
    const { storedReference } = await import("../store/locate.ts");
    return (await storedReference(reference)) ?? reference;
  } catch (error) {
    if (error instanceof InferyardError) return reference;
    throw error;
  }
}

function pathOf(reference: string): string {
  return /^file:/i.test(reference) ? fileUrlPath(reference) : resolve(expandHome(reference));
}

/** The path of a file: URL. Throws INPUT_INVALID for a URL of another host, with an encoded slash, or with invalid encoding. */
function fileUrlPath(reference: string): string {
  try {
    return fileURLToPath(reference);
  } catch (error) {
    throw new InferyardError("INPUT_INVALID", `${JSON.stringify(reference)} names no file of this machine: ${messageOf(error)}`, {
      remedy: "give the plain path of the model, or file:///path",
      cause: error,
    });
  }
}

function expandHome(reference: string): string {
  return reference === "~" || /^~[/\\]/.test(reference) ? join(homedir(), reference.slice(1)) : reference;
}

/** Whether a reference can only be a path, whether or not it exists. */
function looksLikePath(reference: string): boolean {
  return (
    isAbsolute(reference) || /^(\.{1,2}|~|file:)([/\\]|$)|^file:|\\|\/.*\/|\.(onnx|safetensors|gguf|aimod)$/i.test(reference)
  );
}

function unknownModel(reference: string, stored: readonly string[]): InferyardError {
  const guess = nearestName(reference, ["builtin", ...stored]);
  const message = `there is no model "${reference}" in the store, and no file or folder of that name here`;
  if (guess !== undefined) return notFound(message, `did you mean "${guess}"?`);
  if (reference.includes("/")) return notFound(message, `if it is a model on Hugging Face: inferyard pull hf:${reference}`);
  return notFound(message, 'give "builtin", the path of a model, hf:owner/name, or a name that `inferyard list` shows');
}

function notFound(message: string, remedy: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", message, { remedy });
}
