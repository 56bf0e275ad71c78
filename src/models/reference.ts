/** Model references: what a user may write where a model is asked for, and what it means on this machine. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InferyardError } from "../errors.ts";
import type { Folder } from "./model-folder.ts";
import { nearest } from "./nearest.ts";

/** The model in the package itself: beside `src` and `dist` alike. */
const builtinPath = fileURLToPath(new URL("../../builtin", import.meta.url));

/**
 * Where a reference points: `builtin`, or a path (absolute, relative, or from ~). Throws MODEL_NOT_FOUND for a name that is neither,
 * and MODEL_UNSUPPORTED for one that would have to be downloaded. Whether something is there is the reader's question.
 */
export function resolveReference(reference: string): Folder {
  if (reference === "builtin") return { path: builtinPath, shown: reference };
  if (reference.trim() === "") throw notFound("no model was named", 'give "builtin" or the path of a model');
  if (/^https?:/i.test(reference)) {
    throw notBuilt(`${reference} would have to be downloaded`, "download the model's folder and give its path");
  }
  if (reference.startsWith("hf:")) {
    const name = reference.slice("hf:".length).split(/[@:]/)[0] ?? "";
    throw notBuilt(`${reference} would have to be downloaded`, howToDownload(name));
  }
  const path = reference.startsWith("file:") ? fileURLToPath(reference) : resolve(fromHome(reference));
  if (!looksLikePath(reference) && !existsSync(path)) throw unknownName(reference);
  return { path, shown: reference };
}

/** The same for all spellings of one place: how wishes for a model find it. A reference that points nowhere stands for itself. */
export function placeOf(reference: string): string {
  try {
    return resolveReference(reference).path;
  } catch (error) {
    if (error instanceof InferyardError) return reference;
    throw error;
  }
}

function fromHome(reference: string): string {
  return reference === "~" || /^~[/\\]/.test(reference) ? join(homedir(), reference.slice(1)) : reference;
}

/** Whether a reference can only be a path, there or not. */
function looksLikePath(reference: string): boolean {
  return (
    isAbsolute(reference) || /^(\.{1,2}|~|file:)([/\\]|$)|^file:|\\|\/.*\/|\.(onnx|safetensors|gguf|aimod)$/i.test(reference)
  );
}

function unknownName(reference: string): InferyardError {
  if (reference.includes("/")) {
    return notFound(`there is no folder ${reference} here`, `if it is a model on Hugging Face: ${howToDownload(reference)}`);
  }
  const guess = nearest(reference, ["builtin"]);
  if (guess !== undefined) return notFound(`there is no model "${reference}"`, `did you mean "${guess}"?`);
  return notFound(
    `there is no model "${reference}", and no file or folder of that name here`,
    'give "builtin" or the path of a model',
  );
}

function howToDownload(name: string): string {
  const folder = name.split("/").at(-1) ?? name;
  return `fetch it with "hf download ${name} --local-dir ${folder}" and give the path ./${folder}`;
}

function notBuilt(message: string, remedy: string): InferyardError {
  return new InferyardError("MODEL_UNSUPPORTED", `${message}, which this version does not do yet`, { remedy });
}

function notFound(message: string, remedy: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", message, { remedy });
}
