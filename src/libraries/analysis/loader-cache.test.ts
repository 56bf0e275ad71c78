import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bytes } from "../../../test/fixtures/native-libraries.ts";
import { parseLoaderCache } from "./loader-cache.ts";

/** A cache with one entry; an older table precedes that of glibc 2.2. */
function cache(nameOffset: number): Buffer {
  const table = bytes(120, true, [
    [0, "glibc-ld.so.cache1.1"],
    [20, 4, 1],
    [52, 4, nameOffset],
    [56, 4, 80],
    [72, "libx.so\0/opt/libx.so\0"],
  ]);
  return Buffer.concat([Buffer.from("ld.so-1.7.0\0"), table]);
}

describe("the loader cache", () => {
  it("gives the paths of each name", () => {
    expect([...parseLoaderCache(cache(72))]).toEqual([["libx.so", ["/opt/libx.so"]]]);
  });

  it.each([
    ["empty", Buffer.alloc(0)],
    ["of another format", Buffer.from("ld.so-1.7.0")],
    ["damaged", cache(0xffffff)],
    ["cut off", cache(72).subarray(0, 50)],
  ])("has none when it is %s", (_name, content) => {
    expect(parseLoaderCache(content).size).toBe(0);
  });

  it.skipIf(!existsSync("/etc/ld.so.cache"))("of this machine has the C library (skipped where there is no cache)", () => {
    expect(parseLoaderCache(readFileSync("/etc/ld.so.cache")).get("libc.so.6")?.[0]).toMatch(/libc\.so\.6$/);
  });
});
