/** Models with weights in TL1 and TL2 of BitNet: loaded with the tiles that are asked for, and refused where those are not known. */
import { native } from "inferyard/backends/native";
import * as fc from "fast-check";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { NativeSettings } from "../../src/kernels/generated-native-settings.ts";
import { parseTiles, type TableType } from "../../src/formats/gguf/blocks/tl-tiles.ts";
import { readGguf } from "../../src/formats/gguf/read-gguf.ts";
import { readGgufModel } from "../../src/formats/gguf/models/read-model.ts";
import { inspectFile } from "../../src/inspection/index.ts";
import { readManifest } from "../../src/models/index.ts";
import { caseOf, type GgufCase, type GgufOptions, ids, writeCase } from "./fixtures/gguf-models.ts";
import { worst } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

const golden = caseOf("bitnet-b1.58");

/** Tiles of the matrices of the tiny models. TL2 has 32 or 64 columns in pairs. */
const texts: Readonly<Record<TableType, readonly string[]>> = {
  TL1: ["256x128=128/64/32", "128x256=64/128/64", "128x128=128/64/64", "64x128=32/32/32"],
  TL2: ["256x128=128/96/32", "128x256=64/96/32", "128x128=32/96/32", "64x128=64/96/32"],
};

function optionsOf(type: TableType, scales: "behind" | "listed" = "behind"): GgufOptions {
  return { tables: { type, tiles: parseTiles(texts[type]), scales } };
}

async function loaded(
  of: GgufCase,
  file: GgufOptions,
  settings: NativeSettings,
): Promise<{ logits: Float32Array; notes: string }> {
  return await loadedFrom(writeCase(of, file), settings);
}

async function loadedFrom(path: string, settings: NativeSettings): Promise<{ logits: Float32Array; notes: string }> {
  const { variants } = await readManifest(path);
  const model = await ours.loadLanguage!(variants[0] as never, { type: "cpu", index: 0 }, { engine: { ...settings } });
  try {
    const [logits] = await model.decode([{ sequence: await model.createSequence(), tokens: ids, logits: ids.length }]);
    return { logits: logits!, notes: (await model.evidence()).join("\n") };
  } finally {
    await model.dispose();
  }
}

describe.each(["TL1", "TL2"] as const)("weights in %s", (type) => {
  it.each(["behind", "listed"] as const)("give the logits of the same weights in I2_S, with scales %s", async (scales) => {
    const { logits, notes } = await loaded(golden, optionsOf(type, scales), { tlTiles: texts[type] });
    const same = await loaded(golden, { layout: "x86" }, { i2sLayout: "x86" });
    expect([...logits]).toEqual([...same.logits]);
    expect(worst(logits, Float32Array.from(golden.states))).toBeLessThan(0.1);
    expect(notes).toContain(`14 matrices in ${type} are repacked to 2 bits while loading`);
    expect(notes).toContain(`${texts[type][2]} (tlTiles gives them)`);
  });

  it("are refused without tiles, with what to give", async () => {
    const error = await loaded(golden, optionsOf(type), {}).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringMatching(/is a matrix of \d+x\d+ in TL[12], and the tiles of that shape are not known/),
      remedy: expect.stringContaining("set tlTiles to"),
    });
  });

  it("give other numbers with other tiles", async () => {
    const [from, to] = type === "TL1" ? ["=128/64/64", "=64/64/64"] : ["=32/96/32", "=64/48/32"];
    const other = texts[type].map((text) => text.replace(`128x128${from}`, `128x128${to}`));
    const { logits } = await loaded(golden, optionsOf(type), { tlTiles: other });
    const right = await loaded(golden, optionsOf(type), { tlTiles: texts[type] });
    expect(worst(logits, right.logits)).toBeGreaterThan(0.01);
  });

  it.each([
    ["128x128=96/64/32", "MODEL_UNSUPPORTED", "the 128 rows are not a multiple of the 96 of a tile"],
    ["128x128=96", "INPUT_INVALID", "is not of the form"],
  ])("are refused with the tiles %s", async (text, code, message) => {
    const tlTiles = [...texts[type].filter((each) => !each.startsWith("128x128")), text];
    await expect(loaded(golden, optionsOf(type), { tlTiles })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });

  it("are refused where the file ends within a matrix, or has bytes of another type", async () => {
    const path = writeCase(golden, optionsOf(type));
    const model = await readGgufModel(path, path);
    const matrices = [...model.tensors.values()].filter((each) => each.type === type);
    const last = matrices.toSorted((a, b) => a.start - b.start).at(-1)!;
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, last.start + last.bytes - 32));
    await expect(loadedFrom(path, { tlTiles: texts[type] })).rejects.toMatchObject({ code: "MODEL_INVALID" });
    bytes.fill(0xff, last.start, last.start + 64);
    writeFileSync(path, bytes);
    await expect(loadedFrom(path, { tlTiles: texts[type] })).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringMatching(/is not in TL[12]: index 15 of/),
    });
  });

  it("are named by inspection", async () => {
    const metadata = { "general.file_type": { type: "uint32", value: type === "TL1" ? 38 : 39 } } as const;
    const path = writeCase(golden, { ...optionsOf(type), metadata });
    expect(await inspectFile(path)).toMatchObject({ quantization: { stated: type } });
  });
});

describe("number 39 and 42", () => {
  it.each([
    ["llama", 39, "TL2"],
    ["llama", 42, "TL2"],
    ["bitnet-b1.58", 42, "TL2"],
  ] as const)("in a file of %s: %i is %s where a matrix has exactly its room", async (architecture, number, type) => {
    const path = writeCase({ ...golden, architecture }, optionsOf("TL2"));
    const bytes = readFileSync(path);
    // The number follows the two dimensions of the tensor, whose offset is 0 or more.
    for (const each of (await readGguf(path, path)).tensors) {
      if (!each.name.includes("ffn_down.weight")) continue;
      const name = Buffer.from(each.name);
      const at = bytes.indexOf(name) + name.length + 4 + 16;
      bytes.writeUInt32LE(number, at);
    }
    writeFileSync(path, bytes);
    const { tensors } = await readGguf(path, path);
    expect(tensors.find(({ name }) => name === "blk.0.ffn_down.weight")?.type).toBe(type);
  });
});

it("mutated headers and tensors of TL1 and TL2 end in a model or a typed error", async () => {
  const originals = (["TL1", "TL2"] as const).map((type) => ({ type, bytes: readFileSync(writeCase(golden, optionsOf(type))) }));
  const path = writeCase(golden, optionsOf("TL1"));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...originals),
      fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      async ({ type, bytes }, changes, cut) => {
        const changed = Buffer.from(bytes);
        for (const [at, value] of changes) changed[Math.floor(at * at * at * changed.length)] = value;
        writeFileSync(path, cut === null ? changed : changed.subarray(0, Math.floor(cut * changed.length)));
        const outcome = await loadedFrom(path, { tlTiles: texts[type] }).then(
          ({ logits }) => logits.length > 0,
          (error: unknown) => (error as { code?: string }).code ?? error,
        );
        expect(outcome === true || typeof outcome === "string", String(outcome)).toBe(true);
      },
    ),
    { numRuns: amount(60, 12) },
  );
});
