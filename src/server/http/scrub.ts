/** Takes the machine out of words that go to a client: of a path of files only its last part is left. */
import { homedir, tmpdir } from "node:os";

/** An absolute path in quotation marks may hold spaces; a bare one ends at the first. */
const quoted = /(?<=(?<mark>["'`]))(?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^"'`\n]*(?=\k<mark>)/g;
/** Not behind a letter, digit or slash, which an address has before its path, and not behind the verb of a route. */
const bare = /(?<![\w/.-]|\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) |["'`])(?:\/(?!\/)|[A-Za-z]:\\)[^\s"'`,;()[\]<>]+/g;
const fileUrl = /file:\/\/\/?[^\s"'`,;()[\]<>]+/g;

export function scrub(words: string): string {
  return withoutKnownFolders(words)
    .replaceAll(quoted, lastPart)
    .replaceAll(fileUrl, lastPart)
    .replaceAll(bare, lastPart)
    .split("\n")
    .filter((line) => !/^\s*at\s.+[:)]\d*\)?$/.test(line)) // of a stack
    .join("\n");
}

/** The same for every text in plain data. */
export function scrubAll<Value>(value: Value): Value {
  return scrubbed(value) as Value;
}

function scrubbed(value: unknown): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map(scrubbed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, scrubbed(item)]));
}

/** What a model is called to clients: of a path its last part, any other reference as it is. */
export function publicName(reference: string): string {
  return isAddress.test(reference) || !isPath.test(reference) ? reference : lastPart(reference);
}

/** `hf:` and addresses; one letter and a colon is a drive. */
const isAddress = /^(?!file:)[a-z][\w+.-]+:/i;
const isPath = /^(?:file:|~|\.{0,2}[/\\]|\.{1,2}$)|\\|\/.*\/|\.(?:onnx|safetensors|gguf|aimod)$/i;

/** Folders whose names may hold spaces: what stands behind them is found as a path all the same. */
function withoutKnownFolders(words: string): string {
  if (!words.includes(" ")) return words;
  const folders = [process.cwd(), homedir(), tmpdir()].filter((folder) => folder.includes(" "));
  return folders.reduce((text, folder) => text.replaceAll(folder, "/-"), words);
}

function lastPart(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  return parts.at(-1) ?? path;
}
