/** Changed pictures and sounds in a process that may not end, and memory after hostile ones. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { superviseTarget } from "../../scripts/fuzz/supervise.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import { decodeMonoSound } from "../../src/processors/audio/decode-sound.ts";
import { decodePicture } from "../../src/processors/images/decode-picture.ts";
import { amount } from "../fixtures/slow.ts";
import { harmlessPictures, hostilePictures } from "./fixtures/hostile-pictures.ts";
import { flacOfSilence, hostileSounds, opusOfSilence } from "./fixtures/hostile-sounds.ts";

const changed = amount(1000, 250);

it.each(["picture", "sound"])(
  `${changed} changed files of the target %s: none fails`,
  async (target) => {
    const { executions, failures } = await superviseTarget({
      target,
      seconds: 300,
      executions: changed,
      seed: 37,
      useFound: false,
    });
    expect(failures.map(({ key, message, path, command }) => ({ key, message, path, command }))).toEqual([]);
    expect(executions).toBeGreaterThanOrEqual(changed);
  },
  600_000,
);

/** The growth of the resident set in bytes by what runs, after a first round that loads decoders. */
async function growth(run: () => Promise<void>, rounds: number): Promise<number> {
  await run();
  const before = process.memoryUsage().rss;
  for (let round = 0; round < rounds; round++) await run();
  return process.memoryUsage().rss - before;
}

async function ignoringRefusals(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
  }
}

const goldens = JSON.parse(
  readFileSync(new URL("../../src/processors/audio/decode-sound.goldens.json", import.meta.url), "utf8"),
) as { readonly cases: readonly { readonly name: string; readonly file: string }[] };

it("gives memory back after hostile pictures and sounds", async () => {
  const pictures = Object.values(await hostilePictures()).map(([, bytes]) => bytes);
  const others = Object.values(await harmlessPictures());
  const file = (of: string): Uint8Array => Buffer.from(goldens.cases.find(({ name }) => name === of)!.file, "base64");
  const sounds = Object.values(
    hostileSounds(
      file,
      Uint8Array.from({ length: 20_000 }, (_, index) => (index * 7919) % 251),
    ),
  );
  const grown = await growth(async () => {
    for (const bytes of [...pictures, ...others]) await ignoringRefusals(decodePicture(bytes));
    for (const [, bytes] of sounds) await ignoringRefusals(decodeMonoSound(bytes, 16_000));
  }, 10);
  expect(grown).toBeLessThan(256 * 1024 ** 2);
}, 300_000);

it("decodes dense silence in pieces: 11 kB of FLAC and 6 kB of Opus within 600 MiB", async () => {
  const before = process.resourceUsage().maxRSS;
  // 7 minutes of 8 channels, 0.6 GB of samples, and 4 minutes of 2.
  expect(await decodeMonoSound(flacOfSilence(300), 16_000)).toHaveLength(Math.round((300 * 65_535) / 3));
  expect(await decodeMonoSound(opusOfSilence(2000), 16_000)).toHaveLength((2000 * 5760) / 3);
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(600);
}, 300_000);
