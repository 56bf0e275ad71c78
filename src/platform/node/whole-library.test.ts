import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { findCutOffLibrary } from "./whole-library.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-whole-library-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The header of an ELF file of 64 bits with one segment that is loaded: all 1,000 bytes. */
function library(): Buffer {
  const bytes = Buffer.alloc(1000);
  bytes.write("\u007FELF\u0002\u0001\u0001", "latin1");
  bytes.writeBigUInt64LE(64n, 32);
  bytes.writeUInt16LE(56, 54);
  bytes.writeUInt16LE(1, 56);
  bytes.writeUInt32LE(1, 64);
  bytes.writeBigUInt64LE(1000n, 64 + 32);
  return bytes;
}

it("finds a library that is cut off", () => {
  const file = join(folder, "libx.so.1");
  writeFileSync(join(folder, "notes.txt"), "");
  writeFileSync(file, library());
  expect(findCutOffLibrary(folder)).toBeUndefined();
  truncateSync(file, 999);
  expect(findCutOffLibrary(folder)).toBe("libx.so.1 is cut off: it has 999 bytes, and should have at least 1000");
  truncateSync(file, 100);
  expect(findCutOffLibrary(folder)).toMatch(/its table of segments ends behind them/);
  truncateSync(file, 0);
  expect(findCutOffLibrary(folder)).toMatch(/has 0 bytes/);
  writeFileSync(file, "MZ".repeat(100)); // another system's
  expect(findCutOffLibrary(folder)).toBeUndefined();
});
