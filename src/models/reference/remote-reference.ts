/** Parses references to remote models: on the Hugging Face hub, or at a URL. */
import { omitUndefined } from "../../contract/checked.ts";
import { type InferyardError, invalidInput } from "../../contract/errors.ts";

/** A parsed reference to a model on the Hugging Face hub: `hf:owner/name[@revision][:variant]`. */
export interface HubReference {
  readonly kind: "hub";
  /** "owner/name", or "name" for the oldest models of the hub. */
  readonly repository: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
  readonly variant?: string;
}

/** A parsed reference to a file at a URL: `https://host/path/model.onnx#sha256:<hex>`. */
export interface UrlReference {
  readonly kind: "url";
  /** The URL without its fragment. */
  readonly url: string;
  /** Name of the file: the last part of the path. */
  readonly file: string;
  /** Digest that the file must have, 64 hexadecimal digits in lower case. */
  readonly sha256: string;
}

/** A parsed reference to a remote model. */
export type RemoteReference = HubReference | UrlReference;

/** The revision of a hub reference that names none. */
export const defaultRevision = "main";

/** Whether a model reference has the form of a remote one (`hf:`, `http:` or `https:`). It may be malformed. */
export function isRemote(reference: string): boolean {
  return /^(hf:|https?:)/i.test(reference);
}

/** Whether a model reference begins with `hf:`. It may be malformed. */
export function isHubReference(reference: string): boolean {
  return /^hf:/i.test(reference);
}

/** Parses a remote model reference. Throws INPUT_INVALID for a malformed one, with the right form as the remedy. */
export function parseRemote(reference: string): RemoteReference {
  return isHubReference(reference) ? parseHub(reference) : parseUrl(reference);
}

const namePart = "[A-Za-z0-9](?:[\\w.-]{0,94}[A-Za-z0-9_-])?";
const hubPattern = new RegExp(
  `^(?<repository>${namePart}(?:/${namePart})?)(?:@(?<revision>[^:@\\s]+))?(?::(?<variant>[^:@/\\s]+))?$`,
);

function parseHub(reference: string): HubReference {
  const parsed = parseHubName(reference.slice("hf:".length));
  if (parsed !== undefined) return parsed;
  throw invalidInput(
    `"${reference}" does not name a model on Hugging Face`,
    "write hf:owner/name[@revision][:variant], for example hf:sentence-transformers/all-MiniLM-L6-v2:int8",
  );
}

/** Parses `owner/name[@revision][:variant]`, the part of a hub reference after `hf:`. Returns undefined if the text does not have this form. */
export function parseHubName(text: string): HubReference | undefined {
  const { repository, revision = defaultRevision, variant } = hubPattern.exec(text)?.groups ?? {};
  if (repository === undefined || /--|\.\./.test(repository) || !isRevision(revision)) return undefined;
  return { kind: "hub", repository, revision, ...omitUndefined({ variant }) };
}

/** The names that git allows (git-check-ref-format), except names that would change the meaning of a URL. */
function isRevision(revision: string): boolean {
  return /^[\w][\w./-]{0,254}$/.test(revision) && !/\.\.|\/\/|\/$/.test(revision);
}

const modelExtensions = [".onnx", ".safetensors", ".gguf", ".aimod"];

function parseUrl(reference: string): UrlReference {
  const [address = "", ...fragments] = reference.split("#");
  if (!URL.canParse(address)) throw invalidUrl(`"${reference}" is not an address`, "check it");
  const url = new URL(address);
  if (url.username !== "" || url.password !== "") {
    throw invalidUrl(
      `the address on ${url.host} carries a name or a password`,
      "leave them out: the file must be readable without",
    );
  }
  const file = getFileName(url);
  if (!modelExtensions.some((ending) => file.toLowerCase().endsWith(ending))) {
    throw invalidUrl(`${address} names no model: it ends in none of ${modelExtensions.join(", ")}`, remedyForUrl(url));
  }
  const sha256 = /^sha256[:=]([0-9a-f]{64})$/i.exec(fragments.join("#"))?.[1];
  if (sha256 === undefined) {
    const given = fragments.length > 0 ? "its digest is not sha256 and 64 hexadecimal digits" : "it comes without its digest";
    throw invalidUrl(
      `${address} is not fetched: ${given}, and nothing would tell a damaged or exchanged file`,
      `put the digest of the file behind it: ${address}#sha256:<64 hexadecimal digits>; "sha256sum ${file}" prints it for a file you trust`,
    );
  }
  return { kind: "url", url: url.href, file, sha256: sha256.toLowerCase() };
}

function getFileName(url: URL): string {
  try {
    const name = decodeURIComponent(url.pathname).split("/").at(-1) ?? "";
    return /^[\w][\w.+@ -]*$/.test(name) ? name : "";
  } catch {
    return ""; // a percent sign that begins no character
  }
}

function remedyForUrl(url: URL): string {
  const [, owner, name] = url.pathname.split("/");
  if (url.hostname === "huggingface.co" && name !== undefined) return `write hf:${owner}/${name}`;
  return "give the address of the file of a model, and its digest behind it: #sha256:<64 hexadecimal digits>";
}

function invalidUrl(message: string, remedy: string): InferyardError {
  return invalidInput(message, remedy);
}

/** The canonical text of a remote reference, without its variant: equal for all references to the same files. */
export function canonicalName(reference: RemoteReference): string {
  if (reference.kind === "url") return `${reference.url}#sha256:${reference.sha256}`;
  const { repository, revision } = reference;
  return `hf:${repository}${revision === defaultRevision ? "" : `@${revision}`}`;
}
