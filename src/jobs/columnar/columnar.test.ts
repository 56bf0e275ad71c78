/** Files as pyarrow and other writers make them are tried in test/jobs/columnar.long.test.ts. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Field, List, Table, Utf8, tableFromIPC, tableToIPC, vectorFromArray } from "apache-arrow";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteFile } from "hyparquet-writer";
import { afterAll, describe, expect, it } from "vitest";
import { openFormat } from "../rows/formats.ts";
import type { RowReader, ReadRow } from "../rows/row-reader.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-columnar-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const fields = ["id", "input", "documents"];
const start = { offset: 0, number: 0 };
const jsonl = { path: path("out.jsonl"), format: "jsonl" } as const;

async function rowsOf(reader: RowReader, position = start): Promise<ReadRow[]> {
  const rows: ReadRow[] = [];
  for await (const group of reader.read(position)) rows.push(...group);
  return rows;
}

const count = 3000;
const texts = Array.from({ length: count }, (_, index) => `text ${index}`);

describe("inputs", () => {
  it("in Parquet are read from every position, the fields that count alone", async () => {
    const columnData = [
      { name: "id", data: texts.map((_text, index) => BigInt(index * 2)), type: "INT64" as const },
      { name: "input", data: texts, type: "STRING" as const },
      { name: "other", data: texts, type: "STRING" as const },
    ];
    parquetWriteFile({ filename: path("in.parquet"), columnData, rowGroupSize: 1000 });
    const { reader } = await openFormat({ path: path("in.parquet"), format: "parquet" }, jsonl, fields);
    const rows = await rowsOf(reader);
    expect(rows).toHaveLength(count);
    expect(rows[1500]).toMatchObject({ number: 1501, value: { id: 3000, input: "text 1500" }, part: 1501 / count });
    expect(await rowsOf(reader, rows[1499]!.position)).toEqual(rows.slice(1500));
  });

  it("in Arrow are read from every position, lists and both formats of files included", async () => {
    const some = texts.slice(0, 300);
    const documents = vectorFromArray(
      some.map((text) => [text, "b"]),
      new List(new Field("item", new Utf8())),
    );
    const column = vectorFromArray(some, new Utf8());
    const table = new Table({ id: column, input: column, documents, other: column });
    for (const format of ["file", "stream"] as const) {
      writeFileSync(path("in.arrow"), tableToIPC(table, format));
      const { reader } = await openFormat({ path: path("in.arrow"), format: "arrow" }, jsonl, fields);
      const rows = await rowsOf(reader);
      expect(rows).toHaveLength(300);
      expect(rows[299]).toMatchObject({ number: 300, value: { id: "text 299", documents: ["text 299", "b"] }, part: 1 });
      expect(await rowsOf(reader, rows[9]!.position)).toEqual(rows.slice(10));
    }
  });

  it("in Parquet have rows without the fields that are null", async () => {
    const columnData = [
      { name: "id", data: [1n, null, 3n], type: "INT64" as const },
      { name: "input", data: ["a", "b", null], type: "STRING" as const },
    ];
    parquetWriteFile({ filename: path("nulls.parquet"), columnData });
    const { reader } = await openFormat({ path: path("nulls.parquet"), format: "parquet" }, jsonl, fields);
    const values = (await rowsOf(reader)).map(({ value }) => value);
    expect(values).toEqual([{ id: 1, input: "a" }, { input: "b" }, { id: 3 }]);
  });

  it("that are no such files, or lack the column, are refused", async () => {
    for (const format of ["parquet", "arrow"] as const) {
      writeFileSync(path("empty"), "");
      await expect(openFormat({ path: path("empty"), format }, jsonl, fields)).rejects.toThrow(/empty is empty, and so no/);
    }
    writeFileSync(path("bad.parquet"), "PAR1 and nothing");
    writeFileSync(path("bad.arrow"), "ARROW1 and nothing else in this file");
    await expect(openFormat({ path: path("bad.parquet"), format: "parquet" }, jsonl, fields)).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    parquetWriteFile({ filename: path("text.parquet"), columnData: [{ name: "text", data: ["a"] }] });
    await expect(openFormat({ path: path("text.parquet"), format: "parquet" }, jsonl, fields)).rejects.toThrow(
      /has no column input/,
    );
  });
});

describe("outputs", () => {
  const lines = (results: readonly unknown[], id = (index: number): unknown => index): void =>
    writeFileSync(path("lines"), results.map((result, index) => `${JSON.stringify({ id: id(index), result })}\n`).join(""));
  const convert = async (format: "parquet" | "arrow"): Promise<readonly Record<string, unknown>[]> => {
    const output = { path: path(`out.${format}`), format } as const;
    const { convert: write } = await openFormat(jsonl, output, fields);
    await write!(path("lines"), output.path);
    if (format === "parquet") return await parquetReadObjects({ file: await asyncBufferFromFile(output.path) });
    return tableFromIPC(readFileSync(output.path))
      .toArray()
      .map((row) => (row as { toJSON(): Record<string, unknown> }).toJSON());
  };

  it.each(["parquet", "arrow"] as const)("in %s have vectors as numbers, and other results as JSON", async (format) => {
    lines(Array.from({ length: 5000 }, (_, index) => [index, -0.5, 0.1]));
    const rows = await convert(format);
    expect(rows).toHaveLength(5000);
    expect(rows[4999]!["id"]).toBe(4999n);
    expect(Array.from(rows[4999]!["result"] as Iterable<number>)).toEqual([4999, -0.5, Math.fround(0.1)]);
    lines([{ text: 'a "b" \u2028\n' }, { text: "c" }], (index) => (index === 0 ? 'x,"y' : 7));
    const json = await convert(format);
    expect(json.map(({ id }) => id)).toEqual(['x,"y', "7"]);
    const [{ result } = {}] = json;
    expect(typeof result === "string" ? JSON.parse(result) : result).toEqual({ text: 'a "b" \u2028\n' });
    lines([]);
    expect(await convert(format)).toEqual([]);
  });

  it("are refused where vectors differ in length", async () => {
    lines([[1, 2], [3]]);
    await expect(convert("parquet")).rejects.toMatchObject({ code: "RUN_FAILED" });
  });
});
