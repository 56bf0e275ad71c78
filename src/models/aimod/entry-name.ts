/**
 * Names in an archive, which are the work of strangers: a name is taken when it means the same file on every platform, inside the folder
 * the archive is unpacked into; any other is refused with the reason.
 */

export type EntryName = { readonly path: string; readonly refusal?: never } | { readonly path?: never; readonly refusal: string };

/** Bytes of a part and of the whole: what file systems and Windows' oldest limit leave room for below a data folder. */
const maxPartBytes = 255;
const maxNameBytes = 1024;

/** Names Windows keeps for devices, whatever follows the dot (https://learn.microsoft.com/windows/win32/fileio/naming-a-file). */
const devices = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** The name as a relative path with slashes; "" is the folder itself. A refusal completes the sentence "the entry ... ". */
export function checkEntryName(name: string): EntryName {
  if (name === "") return { refusal: "has no name" };
  if (/\p{Cc}/u.test(name)) return { refusal: "has a control character in its name" };
  if (name.includes("\uFFFD")) return { refusal: "has a name that is not UTF-8" };
  if (name.startsWith("/")) return { refusal: "has an absolute path" };
  if (/^[a-zA-Z]:/.test(name)) return { refusal: "has a drive letter" };
  if (/[\\:]/.test(name)) return { refusal: "has a backslash or a colon in its name" };
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { refusal: 'leads out of the folder with ".."' };
  const ambiguous = parts.find((part) => /[. ]$/.test(part) || devices.test(part));
  if (ambiguous !== undefined) return { refusal: `has the part "${ambiguous}", which Windows reads as another name` };
  const path = parts.join("/");
  if (parts.some((part) => Buffer.byteLength(part) > maxPartBytes) || Buffer.byteLength(path) > maxNameBytes)
    return { refusal: "has a name that is too long" };
  return { path };
}

/** Two paths with the same key are one file on some file system: without regard to capitals and to how accents are written. */
export function entryKey(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
