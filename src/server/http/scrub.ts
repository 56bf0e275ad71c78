/** Removes paths of this machine from texts that clients see. */
import { tmpdir } from "node:os";
import { homeFolder } from "../../platform/node/home-folder.ts";

/** An absolute path in quotation marks, which may contain spaces. */
const quoted = /(?<=(?<mark>["'`]))(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^"'`\n]*(?=\k<mark>)/g;
/**
 * An absolute path without quotation marks, which ends at the first space. Not after a letter, digit or slash, as in a URL, and not after an HTTP
 * method.
 */
const bare = /(?<![\w/.-]|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) |["'`])(?:\/(?!\/)|[A-Za-z]:\\)[^\s"'`,;()[\]<>]+/g;
const fileUrl = /file:\/\/\/?[^\s"'`,;()[\]<>]+/g;

/** The text without folders of this machine: each absolute path is reduced to its last part, and lines of a stack trace are removed. */
export function scrub(text: string): string {
  return withoutKnownFolders(text)
    .replaceAll(quoted, lastPart)
    .replaceAll(fileUrl, lastPart)
    .replaceAll(bare, lastPart)
    .split("\n")
    .filter((line) => !/^\s*at\s.+[:)]\d*\)?$/.test(line)) // a line of a stack trace
    .join("\n");
}

/** Scrubs every string in plain data. */
export function scrubAll<Value>(value: Value): Value {
  return scrubbed(value) as Value;
}

function scrubbed(value: unknown): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map(scrubbed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scrubbed(item)]));
}

/** The name of a model for clients: the last part of a path; any other reference as it is. */
export function publicName(reference: string): string {
  return isAddress.test(reference) || !isPath.test(reference) ? reference : lastPart(reference);
}

/** `hf:` and URLs; a single letter before the colon is a drive of Windows. */
const isAddress = /^(?!file:)[a-z][\w+.-]+:/i;
const isPath = /^(?:file:|~|\.{0,2}[/\\]|\.{1,2}$)|\\|\/.*\/|\.(?:onnx|safetensors|gguf|aimod)$/i;

/**
 * Shortens the working, home and temporary folder where their names contain spaces, so that paths in them are recognized without quotation marks.
 */
function withoutKnownFolders(text: string): string {
  if (!text.includes(" ")) return text;
  const folders = [process.cwd(), homeFolder(), tmpdir()].filter((folder) => folder.includes(" "));
  return folders.reduce((text, folder) => text.replaceAll(folder, "/-"), text);
}

function lastPart(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  return parts.at(-1) ?? path;
}
