/**
 * Validates names from untrusted sources: archives, listings and records. A name is accepted if it means the same file on every platform, inside the folder that
 * it is relative to.
 */

/** The result of `checkEntryName`: a valid relative path, or the reason why the name of an archive entry is refused. */
export type EntryName = { readonly path: string; readonly refusal?: never } | { readonly path?: never; readonly refusal: string };

/** Largest number of bytes of a path component and of a path. */
const maxPartBytes = 255;
const maxNameBytes = 1024;

/** Device names of Windows, with any extension (https://learn.microsoft.com/windows/win32/fileio/naming-a-file). */
const devices = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/**
 * Validates the name of an archive entry and returns it as a relative path with slashes; "" is the folder itself. Names are
 * refused that lead out of the folder or that some platform cannot have. A refusal completes the sentence "the entry ...".
 */
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

/** A comparison key, equal for paths that are the same file on some file system: it ignores case and Unicode normalization. */
export function entryKey(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
