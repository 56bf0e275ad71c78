/** Writes results in Arrow's file format (Feather version 2) with apache-arrow, one record batch at a time. */
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as Arrow from "apache-arrow";
import type { RecordBatch, Schema } from "apache-arrow";
import { importFormatPackage } from "./optional-package.ts";
import { type TableRows, type TableShape, readShape, readTable } from "./result-table.ts";

const batchRows = 4096;

/**
 * Writes the lines of results as an Arrow file: `id` as int64 or utf8, `result` as a fixed-size list of float32 for vectors, and otherwise as utf8 with JSON.
 * Throws NOT_BUILT without apache-arrow, and errors of the file system.
 */
export async function writeArrow(lines: string, output: string): Promise<void> {
  const arrow: typeof Arrow = await importFormatPackage("apache-arrow", () => import("apache-arrow"));
  const shape = await readShape(lines);
  const schema = toSchema(arrow, shape);
  const writer = new arrow.RecordBatchFileWriter();
  writer.reset(undefined, schema);
  const bytes = async function* (): AsyncGenerator<Uint8Array, void> {
    const reading = writer[Symbol.asyncIterator]();
    const writing = (async () => {
      for await (const rows of readTable(lines, shape, batchRows)) writer.write(toBatch(arrow, schema, shape, rows));
      writer.finish();
    })();
    for (let next = await reading.next(); next.done !== true; next = await reading.next()) yield next.value;
    await writing;
  };
  await pipeline(Readable.from(bytes()), createWriteStream(output));
}

function toSchema(arrow: typeof Arrow, { id, dimensions }: TableShape): Schema {
  const { Field, FixedSizeList, Float32, Int64, Utf8 } = arrow;
  return new arrow.Schema([
    new Field("id", id === "int64" ? new Int64() : new Utf8(), false),
    new Field(
      "result",
      dimensions === undefined ? new Utf8() : new FixedSizeList(dimensions, new Field("item", new Float32(), false)),
      false,
    ),
  ]);
}

function toBatch(
  arrow: typeof Arrow,
  schema: Schema,
  { id, dimensions }: TableShape,
  { ids, vectors, texts }: TableRows,
): RecordBatch {
  const { Field, FixedSizeList, Float32, Int64, Struct, Utf8, makeData, vectorFromArray } = arrow;
  const length = ids.length;
  const text = (values: readonly string[]) => vectorFromArray([...values], new Utf8()).data[0];
  const idData =
    id === "int64"
      ? makeData({ type: new Int64(), data: BigInt64Array.from(ids, (each) => BigInt(each)) })
      : text(ids.map(String));
  const resultData =
    dimensions === undefined
      ? text(texts)
      : makeData({
          type: new FixedSizeList(dimensions, new Field("item", new Float32(), false)),
          length,
          nullCount: 0,
          child: makeData({ type: new Float32(), data: vectors }),
        });
  if (idData === undefined || resultData === undefined) throw new TypeError("a column has no data");
  return new arrow.RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length, nullCount: 0, children: [idData, resultData] }),
  );
}
