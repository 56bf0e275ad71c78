import { posix, win32 } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkEntryName, entryKey } from "./entry-name.ts";

/** Pieces that have opened holes in unpackers. */
const nasty = ["..", ".", "", "/", "\\", ":", "C:", "~", " ", "\u0000", "con", "a", "ä", "A", "\uFFFD", "..\\", "%2e%2e", "．．"];
const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.constantFrom(...nasty), { maxLength: 8 }).map((parts) => parts.join("/")),
  fc.array(fc.constantFrom(...nasty), { maxLength: 8 }).map((parts) => parts.join("")),
);

describe("names in an archive", () => {
  it("that are taken stay in the folder, on every platform", () => {
    fc.assert(
      fc.property(names, (name) => {
        const { path } = checkEntryName(name);
        if (path === undefined || path === "") return;
        expect(posix.resolve("/root/folder", path).startsWith("/root/folder/")).toBe(true);
        expect(win32.resolve("C:\\root\\folder", path).startsWith("C:\\root\\folder\\")).toBe(true);
        expect(checkEntryName(path)).toEqual({ path });
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["model.onnx", "model.onnx"],
    ["./onnx//model.onnx", "onnx/model.onnx"],
    ["onnx/", "onnx"],
    ["./", ""],
    ["a..b/...c", "a..b/...c"],
  ])("%j is %j", (name, path) => expect(checkEntryName(name)).toEqual({ path }));

  it.each([
    ["", "has no name"],
    ["/etc/passwd", "has an absolute path"],
    ["C:evil", "has a drive letter"],
    ["a/../../b", 'leads out of the folder with ".."'],
    ["a\\..\\b", "has a backslash or a colon in its name"],
    ["model.onnx:stream", "has a backslash or a colon in its name"],
    ["a\nb", "has a control character in its name"],
    ["a\uFFFDb", "has a name that is not UTF-8"],
    ["a/b. ", 'has the part "b. ", which Windows reads as another name'],
    ["x/NUL.json", 'has the part "NUL.json", which Windows reads as another name'],
    ["ä".repeat(128), "has a name that is too long"],
    ["abc/".repeat(300), "has a name that is too long"],
  ])("%j is refused: it %s", (name, refusal) => expect(checkEntryName(name)).toEqual({ refusal }));

  it("have one key where a file system may take them for one file", () => {
    expect(entryKey("Ä.json")).toBe(entryKey("a\u0308.JSON"));
    expect(entryKey("a.json")).not.toBe(entryKey("b.json"));
  });
});
