import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { floatsToJson } from "./float-text.ts";
import { IdSet } from "./id-set.ts";
import { jsonlReader } from "./jsonl-reader.ts";
import type { ReadRow } from "./row-reader.ts";

describe("floats as JSON", () => {
  it("read back as the same float32, in no more digits than toPrecision needs", () => {
    fc.assert(
      fc.property(fc.array(fc.float({ noNaN: true, noDefaultInfinity: true })), (values) => {
        const vector = Float32Array.from(values);
        const written = JSON.parse(floatsToJson(vector)) as number[];
        expect(Float32Array.from(written, Math.fround)).toEqual(vector.map((value) => value + 0));
        for (const [index, value] of vector.entries()) {
          const digits = [6, 7, 8, 9].find((count) => Math.fround(Number(value.toPrecision(count))) === value) ?? 9;
          expect(written[index]).toBe(Number(value.toPrecision(digits)) + 0);
        }
      }),
    );
  });
  it("are null where they are not finite", () => {
    expect(floatsToJson(Float32Array.of(Number.NaN, Infinity, -0, 0.1, -12.5))).toBe("[null,null,0,0.1,-12.5]");
  });
});

describe("a set of ids", () => {
  it("tells equal from different ones as it grows", () => {
    const ids = new IdSet();
    for (let id = 0; id < 5000; id += 1) expect(ids.add(id)).toBe(true);
    for (let id = 0; id < 5000; id += 1) expect(ids.add(id)).toBe(false);
    expect([ids.add("7"), ids.add("7"), ids.size]).toEqual([true, false, 5001]);
  });
});

describe("JSONL", () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-jsonl-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = async (content: string | Buffer, from = { offset: 0, number: 0 }): Promise<ReadRow[]> => {
    const path = join(folder, "x.jsonl");
    writeFileSync(path, content);
    const rows: ReadRow[] = [];
    for await (const group of jsonlReader(path).read(from)) rows.push(...group);
    return rows;
  };

  it("is read from every position that a row ends at", async () => {
    const text = '\uFEFF{"a":1}\r\n\n"zwei\u2028é"\n{\n3';
    const rows = await read(text);
    expect(rows.map(({ number, value }) => [number, value])).toEqual([
      [1, { a: 1 }],
      [3, "zwei\u2028é"],
      [4, undefined],
      [5, 3],
    ]);
    for (const [index, { position }] of rows.entries()) expect(await read(text, position)).toEqual(rows.slice(index + 1));
    expect(rows[2]).toMatchObject({ problem: expect.stringContaining("not JSON") as string, text: "{" });
  });

  it("has rows longer than a block, and rows that are not UTF-8", async () => {
    const long = "x".repeat(3 * 2 ** 20);
    const rows = await read(
      Buffer.concat([Buffer.from(`"${long}"\n`), Buffer.from([0x22, 0xff, 0x22, 0x0a]), Buffer.from("1\n")]),
    );
    expect((rows[0]!.value as string).length).toBe(long.length);
    expect(rows[1]).toMatchObject({ problem: "the line is not UTF-8" });
    expect(rows[2]).toMatchObject({ value: 1, number: 3 });
  });
});
