import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDigestCache, computeDigest } from "./digest.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "inferyard-digest-"))));
afterAll(async () => await rm(folder, { recursive: true, force: true }));

it("gives the SHA-256 of a file, and another when the file has changed", async () => {
  const path = join(folder, "weights");
  const memo = createDigestCache();
  await writeFile(path, "abc");
  // FIPS 180-2, appendix B.1
  expect(await computeDigest({ path }, memo)).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  await appendFile(path, "dbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq");
  expect(await computeDigest({ path }, memo)).not.toContain("ba7816bf");
});

it("reads a file once for all callers that share a cache", async () => {
  const path = join(folder, "shared");
  await writeFile(path, "abc");
  const memo = createDigestCache();
  const [first, second] = await Promise.all([computeDigest({ path }, memo), computeDigest({ path }, memo)]);
  expect(first).toBe(second);
  expect(memo.digests.size).toBe(1);
  await computeDigest({ path }, memo);
  expect(memo.digests.size).toBe(1);
});

it("reports a file that cannot be read", async () => {
  await expect(computeDigest({ path: join(folder, "nowhere") })).rejects.toMatchObject({ code: "MODEL_INVALID" });
  const memo = createDigestCache();
  await expect(computeDigest({ path: folder }, memo)).rejects.toMatchObject({ code: "MODEL_INVALID" });
  expect(memo.digests.size).toBe(0);
});
