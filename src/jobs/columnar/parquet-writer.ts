/** Writes results as Parquet with hyparquet-writer, one row group at a time. */
import type { SchemaElement } from "hyparquet-writer";
import { importFormatPackage } from "./optional-package.ts";
import { type TableShape, readShape, readTable } from "./result-table.ts";

const rowGroupRows = 4096;

/**
 * Writes the lines of results as a Parquet file: `id` as INT64 or text, `result` as a list of FLOAT for vectors, and otherwise as JSON. Throws NOT_BUILT without
 * hyparquet-writer, and errors of the file system.
 */
export async function writeParquet(lines: string, output: string): Promise<void> {
  const { ParquetWriter, fileWriter } = await importFormatPackage("hyparquet-writer", () => import("hyparquet-writer"));
  const shape = await readShape(lines);
  const writer = new ParquetWriter({ writer: fileWriter(output), schema: [...toSchema(shape)] });
  for await (const { ids, vectors, texts } of readTable(lines, shape, rowGroupRows)) {
    const { dimensions } = shape;
    const results =
      dimensions === undefined
        ? texts.map((text) => JSON.parse(text) as unknown)
        : ids.map((_id, row) => Array.from(vectors.subarray(row * dimensions, (row + 1) * dimensions)));
    await writer.write({
      columnData: [
        { name: "id", data: shape.id === "int64" ? ids.map(BigInt) : [...ids], nullable: false },
        { name: "result", data: results },
      ],
      rowGroupSize: rowGroupRows,
    });
  }
  await writer.finish();
}

function toSchema({ id, dimensions }: TableShape): readonly SchemaElement[] {
  return [
    { name: "root", num_children: 2 },
    id === "int64"
      ? { name: "id", type: "INT64", repetition_type: "REQUIRED" }
      : { name: "id", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
    ...(dimensions === undefined
      ? [{ name: "result", type: "BYTE_ARRAY", converted_type: "JSON", repetition_type: "OPTIONAL" } as const]
      : ([
          { name: "result", repetition_type: "OPTIONAL", converted_type: "LIST", num_children: 1 },
          { name: "list", repetition_type: "REPEATED", num_children: 1 },
          { name: "element", type: "FLOAT", repetition_type: "OPTIONAL" },
        ] as const)),
  ];
}
