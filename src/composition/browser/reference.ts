/**
 * Model references in a browser: `builtin`, the address of a folder or of a file of weights, and `hf:owner/name[@revision][:variant]`.
 * Replaces src/models/reference/resolve-reference.ts. A model's path is the URL that its files are cached under.
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, invalidInput, unsupportedModel } from "../../contract/errors.ts";
import { isPackage } from "../../models/aimod/package-name.ts";
import { isHubReference, parseRemote } from "../../models/reference/remote-reference.ts";
import type { ModelLocation, ModelReference } from "../../models/reference/model-location.ts";
import { findCachedFile, listCachedFiles } from "../../platform/browser/model-cache.ts";
import { browserScope } from "../../platform/browser/global-scope.ts";

/**
 * Path of the built-in model in the cache. No host can have this name (RFC 6761), so the path is the same wherever the page is
 * served.
 */
export const builtinPath = "https://inferyard.invalid/builtin";

const hub = "https://huggingface.co";

/** Resolves a reference. Its `locate` fetches the files first if `fetch` is set; otherwise throws MODEL_NOT_FOUND if the cache has none of them. Throws errors of `parseReference`. */
export async function resolveReference(reference: string): Promise<ModelReference> {
  const location = parseReference(reference);
  const { path } = location;
  return {
    text: reference,
    canonical: path,
    async locate({ fetch } = {}) {
      if (fetch !== undefined) await fetch(reference);
      else if ((await findCachedFile(path))?.exists !== true && (await listCachedFiles(path)).length === 0)
        throw notFetched(reference);
      return location;
    },
  };
}

/**
 * Parses a model reference in a browser. Throws INPUT_INVALID for a malformed one, MODEL_NOT_FOUND for one that is not an
 * address, and MODEL_UNSUPPORTED for an .aimod package.
 */
export function parseReference(reference: string): ModelLocation {
  const folder = { displayName: reference, partial: true };
  if (reference === "builtin") return { ...folder, path: builtinPath, name: reference };
  if (isHubReference(reference)) return { ...folder, ...hubLocation(reference) };
  const url = getAddress(reference);
  if (url.search !== "" || url.hash !== "")
    throw invalidInput(`${reference} has a query or a fragment`, "give the plain address of the model's folder");
  if (isPackage(url.pathname)) throw packageRefusal(reference);
  return { ...folder, path: url.href.replace(/\/+$/, "") };
}

/** Resolves an address relative to the page. A bare name is refused, since it may be a misspelled reference. */
function getAddress(reference: string): URL {
  const isAddress = /^https?:\/\//i.test(reference) || /^\.{0,2}\//.test(reference);
  if (!isAddress || !URL.canParse(reference, browserScope().location.href)) {
    throw new InferyardError("MODEL_NOT_FOUND", `"${reference}" is not a model a browser can find`, {
      remedy: 'give "builtin", an address ("https://…", "/models/…", "./models/…") or "hf:owner/name"',
    });
  }
  return new URL(reference, browserScope().location.href);
}

/** https://huggingface.co/docs/hub: `/{repository}/resolve/{revision}/{file}` is a file of a repository. */
function hubLocation(reference: string): Pick<ModelLocation, "path" | "name" | "variant"> {
  const remote = parseRemote(reference);
  if (remote.kind !== "hub") throw invalidInput(`"${reference}" does not name a model on Hugging Face`, "write hf:owner/name");
  const { repository, revision, variant } = remote;
  return {
    path: `${hub}/${repository}/resolve/${encodeURIComponent(revision)}`,
    name: repository.split("/").at(-1) ?? repository,
    ...omitUndefined({ variant }),
  };
}

/** The MODEL_UNSUPPORTED error for a reference to a package; `displayName` is the reference as the caller wrote it. */
export function packageRefusal(displayName: string): InferyardError {
  return unsupportedModel(
    `${displayName} is a package, and a browser cannot unpack one`,
    "unpack it on the server and give the address of the folder",
  );
}

function notFetched(reference: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `${reference} is not in this browser's cache`, {
    remedy: "load it, which fetches it",
  });
}
