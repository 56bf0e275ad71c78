/** Resolves model references: the strings by which a user names a model. */
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { nearestName } from "../validation/nearest-name.ts";
import type { ModelReference, ResolveOptions } from "./model-location.ts";
import { canonicalName, isRemote, parseRemote } from "./remote-reference.ts";
import { homeFolder } from "../../platform/node/home-folder.ts";

/** Folder of the built-in model, beside both `src` and `dist`. */
const builtinPath = fileURLToPath(new URL("../../../builtin", import.meta.url));

/**
 * Resolves a reference: `builtin`, a path (absolute, relative, or below ~), `hf:owner/name[@revision][:variant]`, a URL with a digest, or a name in the store.
 * A path that exists takes precedence over a name in the store. Throws MODEL_NOT_FOUND for an unknown name and INPUT_INVALID for a malformed reference. It is
 * not checked whether a reference that can only be a path exists, or whether a remote model is in the store.
 */
export async function resolveReference(reference: string, options: ResolveOptions = {}): Promise<ModelReference> {
  if (reference === "builtin") return localModel(reference, builtinPath);
  if (reference.trim() === "") throw notFound("no model was named", 'give "builtin" or the path of a model');
  if (isRemote(reference)) return remoteModel(reference, options);
  const path = getPath(reference);
  if (looksLikePath(reference) || existsSync(path)) return localModel(reference, path);
  // Imported on demand: a path does not need the store.
  const { storedModel, storedNames } = await import("../store/locate.ts");
  const stored = await storedModel(reference, options);
  if (stored !== undefined) return stored;
  throw unknownModel(reference, await storedNames(options.dataFolder));
}

function localModel(text: string, path: string): ModelReference {
  return { text, canonical: path, locate: async () => ({ path, displayName: text }) };
}

function remoteModel(text: string, options: ResolveOptions): ModelReference {
  const remote = parseRemote(text);
  return {
    text,
    canonical: canonicalName(remote),
    locate: async (wanted) => (await import("../store/locate.ts")).locateRemote(text, remote, { ...options, ...wanted }),
  };
}

function getPath(reference: string): string {
  return /^file:/i.test(reference) ? fileUrlPath(reference) : resolve(expandHome(reference));
}

/** The path of a file: URL. Throws INPUT_INVALID for a URL of another host, with an encoded slash, or with invalid encoding. */
function fileUrlPath(reference: string): string {
  try {
    return fileURLToPath(reference);
  } catch (error) {
    throw new InferyardError(
      "INPUT_INVALID",
      `${JSON.stringify(reference)} names no file of this machine: ${getMessage(error)}`,
      {
        remedy: "give the plain path of the model, or file:///path",
        cause: error,
      },
    );
  }
}

function expandHome(reference: string): string {
  return reference === "~" || /^~[/\\]/.test(reference) ? join(homeFolder(), reference.slice(1)) : reference;
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
