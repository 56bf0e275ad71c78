import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LoaderCacheEntry, parseLoaderCache, readLoaderCache } from "./loader-cache.ts";

const ldconfig = ["/sbin/ldconfig", "/usr/sbin/ldconfig"].find((path) => existsSync(path));
const hasCache = ldconfig !== undefined && existsSync("/etc/ld.so.cache");

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-loader-cache-"))));
afterAll(async () => await rm(folder, { recursive: true }));

const entries: readonly LoaderCacheEntry[] = [
  { name: "libgomp.so.1", path: "/usr/lib/libgomp.so.1", flags: 0x0303 },
  { name: "libz.so.1", path: "/usr/lib/libz.so.1", flags: 0x0303 },
  { name: "libllama.so", path: "/opt/llama/libllama.so", flags: 3 },
];

/** A cache as ldconfig writes it; in big endian, or behind a table for older loaders. */
function cacheBytes({ bigEndian = false, old = false } = {}): Buffer {
  const little = !bigEndian;
  const strings = Buffer.from(entries.map(({ name, path }) => `${name}\0${path}\0`).join(""));
  const head = Buffer.alloc(48 + entries.length * 24);
  head.write("glibc-ld.so.cache1.1");
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  view.setUint32(20, entries.length, little);
  view.setUint32(24, strings.length, little);
  view.setUint8(28, little ? 2 : 3);
  let offset = head.length;
  for (const [index, { name, path, flags }] of entries.entries()) {
    view.setInt32(48 + index * 24, flags, little);
    view.setUint32(52 + index * 24, offset, little);
    view.setUint32(56 + index * 24, offset + name.length + 1, little);
    offset += name.length + path.length + 2;
  }
  const table = Buffer.alloc(Math.ceil((16 + 2 * 12) / 8) * 8);
  table.write("ld.so-1.7.0");
  table.writeUInt32LE(2, 12);
  return Buffer.concat([...(old ? [table] : []), head, strings]);
}

describe("parseLoaderCache", () => {
  it.each([{}, { bigEndian: true }, { old: true }])("reads names, paths and flags: %j", (layout) => {
    expect(parseLoaderCache(cacheBytes(layout))).toEqual(entries);
  });

  it.skipIf(!hasCache)(hasCache ? "agrees with ldconfig -p" : "skipped: this machine has no ldconfig with a cache", async () => {
    const { stdout } = spawnSync(ldconfig ?? "", ["-p"], { encoding: "utf8" });
    const expected = [...stdout.matchAll(/^\t(\S+) \(.*\) => (.+)$/gm)].map(([, name, path]) => ({ name, path }));
    const found = parseLoaderCache(await readFile("/etc/ld.so.cache")).map(({ name, path }) => ({ name, path }));
    expect(expected.length).toBeGreaterThan(10);
    expect(found).toEqual(expected);
  });

  it.each<[string, Buffer, RegExp]>([
    ["nothing", Buffer.alloc(0), /does not begin with/],
    ["a header alone", cacheBytes().subarray(0, 40), /does not begin with/],
    ["a text", Buffer.from("this is a text of more than forty-eight bytes, and no cache"), /does not begin with/],
    ["an old table that ends early", Buffer.from("ld.so-1.7.0\0"), /ends within its header/],
    ["an old table alone", cacheBytes({ old: true }).subarray(0, 40), /does not begin with/],
    ["more entries than it holds", patched(20, 0xffff_ffff), /4294967295 entries .* exceed its \d+ bytes/],
    ["more text than it holds", patched(24, 0xffff_fff0), /4294967280 bytes of names exceed/],
    ["a name outside of its text", patched(52, 0x7fff_ffff), /a name at byte 2147483647 is outside/],
    ["a name within the entries", patched(52, 20), /a name at byte 20 is outside/],
    ["an invalid byte order", patched(28, 1), /byte order/],
  ])("refuses %s", (_name, bytes, message) => {
    expect(() => parseLoaderCache(bytes)).toThrow(message);
  });

  it("refuses a text without an end", () => {
    const bytes = cacheBytes();
    bytes.fill(97, 48 + entries.length * 24);
    expect(() => parseLoaderCache(bytes)).toThrow(/has no end/);
  });

  it("answers or throws an Error for any bytes behind a right beginning", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (rest) => {
        const bytes = Buffer.concat([Buffer.from("glibc-ld.so.cache1.1"), rest]);
        let outcome: unknown;
        try {
          outcome = parseLoaderCache(bytes);
        } catch (error) {
          outcome = (error as Error).constructor.name;
        }
        expect(Array.isArray(outcome) || outcome === "Error").toBe(true);
      }),
    );
  });
});

/** A cache with 32 bits changed. */
function patched(offset: number, value: number): Buffer {
  const bytes = cacheBytes();
  bytes.writeUInt32LE(value, offset);
  return bytes;
}

describe("readLoaderCache", () => {
  it("reads a file", async () => {
    const path = join(folder, "cache");
    await writeFile(path, cacheBytes());
    expect(await readLoaderCache(path)).toEqual({ entries });
  });

  it("tells a missing cache, a damaged one, and what is no file", async () => {
    const damaged = join(folder, "damaged");
    await writeFile(damaged, cacheBytes().subarray(0, 100));
    expect(await readLoaderCache(join(folder, "none"))).toMatchObject({ outcome: "absent" });
    expect(await readLoaderCache(damaged)).toMatchObject({
      outcome: "unreadable",
      reason: expect.stringContaining("exceed") as string,
    });
    expect(await readLoaderCache(folder)).toMatchObject({ outcome: "unreadable" });
  });
});
