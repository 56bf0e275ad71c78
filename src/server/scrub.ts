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

/** Folders whose names may hold spaces: what stands behind them is found as a path all the same. */
function withoutKnownFolders(words: string): string {
  const folders = [process.cwd(), homedir(), tmpdir()].filter((folder) => folder.includes(" "));
  return folders.reduce((text, folder) => text.replaceAll(folder, "/-"), words);
}

function lastPart(path: string): string {
  const parts = path.split(/[/\\]/).filter((part) => part !== "");
  return parts.at(-1) ?? path;
}
