import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { multiplyTables, packTables, tableTensor } from "../../../../test/gguf/fixtures/bitnet-tables.ts";
import { amount, sampled } from "../../../../test/fixtures/slow.ts";
import { tableCodeBytes, tableScaleOffset, unpackTables, usedCodeBytes } from "./lookup-tables.ts";
import { parseTiles, publishedTiles, type TableType, type TiledShape, tileProblem } from "./tl-tiles.ts";

/** -1, 0 and 1 from the generator of Park and Miller, as the script that gave the digests below. */
function ternary(count: number): Int8Array {
  let state = 1;
  return Int8Array.from({ length: count }, () => ((state = (state * 16_807) % 2_147_483_647) % 3) - 1);
}

/**
 * SHA-256 of what Microsoft's own `preprocess_weights_tl1` and `preprocess_weights_tl2` (utils/convert-hf-to-gguf-bitnet.py of microsoft/BitNet, NumPy 2.4.6)
 * return for the weights of `ternary`, with a kernel_config.ini of these tiles: M, K, bm, bk, bmm, bytes.
 */
const converted: readonly (readonly [TableType, number, number, number, number, number, number, string])[] = [
  ["TL1", 256, 128, 256, 128, 32, 8192, "90270bd774a63ee0bf19484b0ed476807481aee8e005bca7bd1fa55160d76f50"],
  ["TL1", 128, 128, 128, 64, 64, 4096, "de58eb7b839549c3ddc4bbb6523a1197f5c60338216be3fa1f1368791b63f411"],
  ["TL1", 320, 256, 160, 64, 32, 20480, "15e2a1ea212a20471cd042221c2c4a003e3de0f78e4732b8459942e5d25c0217"],
  ["TL1", 640, 384, 320, 128, 64, 61440, "91a5b954b83bfcd9568b48e37997e90fb37be9ceed8c1ea2846b8b9e5a0a0038"],
  ["TL2", 256, 192, 256, 96, 32, 12970, "17d3bf4dca8f124904770ea1a89e93cf7f18c2a9530d211738f2937d942fa451"],
  ["TL2", 128, 192, 128, 192, 32, 6485, "72c76b10f6503b8bc891466f47c14e357d975f7f7d86f0d8c8a102773b3ef44a"],
  ["TL2", 320, 320, 160, 96, 32, 24746, "8fc8c0c4a6642573e69842d85a4250c71ad1a6eca123dff98e63891c5cf86b3a"],
  ["TL2", 640, 352, 320, 96, 32, 53760, "4c37604856e9faab0e495e4bbeae1ae960d29e23a455822a5659f31abb455b11"],
  ["TL2", 256, 256, 256, 96, 32, 16384, "d7e9b17f2f8986d7b991ca7bd4b826c28588fe35b1cce6f15dd79c87d1f6320b"],
  ["TL2", 256, 640, 128, 96, 32, 36864, "af5f1c06f85abcdc988d632b7da203553c557f55930ea40eb3c6e7280ac83950"],
  ["TL2", 64, 416, 32, 192, 32, 6229, "a3c89a095cc5b21bc5c4a591e3acac17281a1f715369f6f8ed590e17bce563bc"],
  ["TL2", 1536, 1536, 128, 192, 32, 507904, "044385c000b61aaa25a758c2dc16ffd0f48584d560bf2334feafb894cf8779a3"],
];

const shapes: fc.Arbitrary<readonly [TableType, TiledShape]> = fc
  .record({
    type: fc.constantFrom<TableType>("TL1", "TL2"),
    registerRows: fc.constantFrom(32, 64),
    registers: fc.integer({ min: 1, max: 3 }),
    tileRows: fc.integer({ min: 1, max: 3 }),
    steps: fc.integer({ min: 1, max: 6 }),
    tileColumns: fc.integer({ min: 1, max: 3 }),
    rest: fc.integer({ min: 0, max: 7 }),
  })
  .map(({ type, registerRows: wide, registers, tileRows, steps, tileColumns, rest }) => {
    const registerRows = type === "TL1" ? wide : 32;
    const tiles = { rows: registers * registerRows, columns: steps * (type === "TL1" ? 256 / registerRows : 24), registerRows };
    // Columns behind the last whole tile are fewer than one tile.
    const behind = type === "TL1" || 32 * rest >= tiles.columns ? 0 : 32 * rest;
    return [type, { rows: tileRows * tiles.rows, columns: tileColumns * tiles.columns + behind, tiles }] as const;
  });

describe("TL1 and TL2", () => {
  const samples = sampled(
    "%s of %i x %i in tiles of %i x %i by %i are the bytes of Microsoft's converter",
    converted,
    ([, rows]) => rows < 1000,
  );
  for (const [skip, title, shapesOf] of samples)
    it.skipIf(skip).each(shapesOf)(title, (...each) => {
      const [type, rows, columns, tileRows, tileColumns, registerRows, bytes, digest] = each;
      const shape = { rows, columns, tiles: { rows: tileRows, columns: tileColumns, registerRows } };
      const weights = ternary(rows * columns);
      const packed = packTables(type, weights, shape);
      expect(packed).toHaveLength(bytes);
      expect(createHash("sha256").update(packed).digest("hex")).toBe(digest);
      expect(tableCodeBytes(type, rows, columns)).toBe(bytes);
      expect(tileProblem(type, shape)).toBeUndefined();
      expect(Buffer.from(unpackTables(type, packed, shape).buffer).equals(Buffer.from(weights.buffer))).toBe(true);
    });

  it("of any shape are decoded as they were packed, and multiply to the same integers", () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 2 ** 31 - 2 }), ([type, shape], seed) => {
        expect(tileProblem(type, shape)).toBeUndefined();
        let state = seed;
        const next = (): number => (state = (state * 16_807) % 2_147_483_647);
        const weights = Int8Array.from({ length: shape.rows * shape.columns }, () => (next() % 3) - 1);
        const activations = Int8Array.from({ length: shape.columns }, () => (next() % 255) - 127);
        const packed = packTables(type, weights, shape);
        expect(usedCodeBytes(type, shape)).toBeLessThanOrEqual(packed.length);
        const decoded = unpackTables(type, packed, shape);
        expect(Buffer.from(decoded.buffer).equals(Buffer.from(weights.buffer))).toBe(true);
        const products = Int32Array.from({ length: shape.rows }, (_, row) =>
          activations.reduce((sum, value, column) => sum + value * decoded[row * shape.columns + column]!, 0),
        );
        expect([...multiplyTables(type, packed, activations, shape)]).toEqual([...products]);
      }),
      { numRuns: amount(60, 15) },
    );
  });

  it("have their scale 32 bytes aligned behind the codes", () => {
    const shape = { rows: 320, columns: 320, tiles: { rows: 160, columns: 96, registerRows: 32 } };
    const bytes = tableTensor("TL2", ternary(320 * 320), 0.37, shape);
    expect(tableScaleOffset("TL2", 320, 320)).toBe(24768);
    expect(bytes).toHaveLength(24800);
    expect(new DataView(bytes.buffer).getFloat32(24768, true)).toBe(Math.fround(0.37));
  });

  it("with indices that no weights have are refused", () => {
    const tl1 = { rows: 128, columns: 128, tiles: { rows: 128, columns: 64, registerRows: 64 } };
    expect(() => unpackTables("TL1", new Uint8Array(4096).fill(0x90), tl1)).toThrow("index 9 of two weights is larger than 8");
    const tl2 = { rows: 128, columns: 192, tiles: { rows: 128, columns: 192, registerRows: 32 } };
    expect(() => unpackTables("TL2", new Uint8Array(8192).fill(0xee), tl2)).toThrow(
      "index 14 of three weights is larger than 13",
    );
  });

  it("of random bytes give weights or an Error", () => {
    fc.assert(
      fc.property(shapes, fc.uint8Array({ minLength: 1, maxLength: 64 }), ([type, shape], pattern) => {
        const bytes = Uint8Array.from(
          { length: tableCodeBytes(type, shape.rows, shape.columns) },
          (_, index) => pattern[index % pattern.length]!,
        );
        const outcome = ((): Int8Array | string => {
          try {
            return unpackTables(type, bytes, shape);
          } catch (error) {
            return (error as Error).message;
          }
        })();
        const isExpected =
          typeof outcome === "string"
            ? /^index \d+ of (two|three) weights/.test(outcome)
            : outcome.every((code) => code >= -1 && code <= 1);
        expect(isExpected, String(outcome)).toBe(true);
      }),
    );
  });
});

describe("tiles", () => {
  it("are published for the matrices of three models", () => {
    expect(publishedTiles("TL1", 3200, 8640)).toEqual({ rows: 160, columns: 64, registerRows: 32 });
    expect(publishedTiles("TL2", 1536, 1536)).toEqual({ rows: 128, columns: 192, registerRows: 32 });
    expect(publishedTiles("TL2", 2560, 2560)).toBeUndefined();
    for (const type of ["TL1", "TL2"] as const)
      for (const [rows, columns] of [
        [1536, 4096],
        [1536, 1536],
        [4096, 1536],
        [3200, 8640],
        [3200, 3200],
        [8640, 3200],
        [14336, 4096],
        [4096, 14336],
        [1024, 4096],
        [4096, 4096],
      ] as const) {
        const tiles = publishedTiles(type, rows, columns)!;
        expect(tileProblem(type, { rows, columns, tiles }), `${type} ${rows}x${columns}`).toBeUndefined();
      }
  });

  it("are read from text", () => {
    const tiles = parseTiles(["3200x8640=160/96/32", " 8x8=1/2/3"]);
    expect(tiles.get("3200x8640")).toEqual({ rows: 160, columns: 96, registerRows: 32 });
    expect(() => parseTiles(["3200x8640=160,96,32"])).toThrow("3200x8640=160/96/32");
    expect(() => parseTiles(["8x8=0/2/3"])).toThrow("is not of the form");
    expect(() => parseTiles(["8x8=1/2/3", "8x8=1/2/3"])).toThrow("comes twice");
  });

  it.each([
    ["TL1", 256, 128, 256, 128, 16, "16 rows of a register are not 32 or 64"],
    ["TL2", 256, 192, 256, 96, 64, "64 rows of a register are not 32"],
    ["TL1", 256, 128, 48, 128, 32, "the 48 rows of a tile are not a multiple of its 32 rows of a register"],
    ["TL1", 300, 128, 128, 128, 32, "the 300 rows are not a multiple of the 128 of a tile"],
    ["TL1", 256, 128, 128, 12, 32, "the 12 columns of a tile are not a multiple of 8"],
    ["TL2", 256, 192, 128, 32, 32, "the 32 columns of a tile are not a multiple of 24"],
    ["TL1", 256, 96, 128, 64, 32, "the 96 columns are not a multiple of the 64 of a tile"],
    ["TL2", 256, 64, 128, 96, 32, "the 64 columns are fewer than the 96 of a tile"],
    ["TL2", 256, 112, 128, 96, 32, "the 16 columns behind the last tile of 96 are not a multiple of 32"],
    ["TL2", 256, 672, 128, 384, 32, "288 columns are behind the last tile of 384, and there is room for 256"],
  ] as const)(
    "%s of %i x %i in %i x %i by %i do not fit",
    (type, rows, columns, tileRows, tileColumns, registerRows, problem) => {
      expect(tileProblem(type, { rows, columns, tiles: { rows: tileRows, columns: tileColumns, registerRows } })).toBe(problem);
    },
  );
});
