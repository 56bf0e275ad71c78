/** Path functions for browsers: a path is a URL without query, or a relative file name. Replaces src/platform/node/paths.ts. */
import { decodePercent } from "../percent-encoding.ts";

/** Separator of path components in a browser, where a path is a URL without query, or a relative file name. */
export const sep = "/";

/** The percent-decoded last component of a path, without `suffix` if it ends with it. */
export function basename(path: string, suffix = ""): string {
  const name = decodePercent(path.slice(path.lastIndexOf("/") + 1));
  return suffix !== "" && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

/** The path without its last component; "." for a path of one component. */
export function dirname(path: string): string {
  const end = path.lastIndexOf("/");
  return end < 0 ? "." : path.slice(0, end);
}

/** The extension of the last component with its dot; "" if it has none or only a leading dot. */
export function extname(path: string): string {
  const name = basename(path);
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot);
}

/** Whether a path is a URL or begins with a slash. */
export function isAbsolute(path: string): boolean {
  return path.startsWith("/") || isUrl(path);
}

/** Removes "." and resolves "..". Applies to relative names only; URLs are normal already. */
export function normalize(path: string): string {
  if (isUrl(path)) return path;
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/") || ".";
}

/** Joins names to a folder. Names after a URL are percent-encoded, so that "#" in a file name stays part of it. */
export function join(base: string, ...names: readonly string[]): string {
  const name = normalize(names.join("/"));
  if (!isUrl(base)) return normalize(`${base}/${name}`);
  const folder = base.replace(/\/+$/, "");
  return name === "." ? folder : `${folder}/${name.split("/").map(encodeURIComponent).join("/")}`;
}

function isUrl(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
