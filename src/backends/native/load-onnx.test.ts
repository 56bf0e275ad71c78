/** @isolated since it sets a flag of V8 and collects garbage */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, expect, it } from "vitest";
import type { Tensor } from "../../contract/tensor.ts";
import { integer, message, model, node, value } from "../../../test/fixtures/models/onnx-bytes.ts";
import { native } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-load-onnx-"));
afterAll(() => rmSync(folder, { recursive: true }));

const size = 80;
const elements = Float32Array.from({ length: size * size }, (_, index) => index / 100);

/** x [n, 80] times weights that lie in the model's file or beside it; and as many rows of others as x has, which nothing packs at load. */
function save(name: string, external?: string): string {
  const bytes = Buffer.from(elements.buffer);
  const entry = (key: string, text: string): Buffer => message(13, message(1, key), message(2, text));
  const content = external === undefined ? [message(9, bytes)] : [entry("location", external), integer(14, 1)];
  if (external !== undefined) writeFileSync(join(folder, external), bytes);
  const graph = [
    value(11, "x", 1, ["n", size]),
    ...["w", "v"].map((title) => message(5, integer(1, size), integer(1, size), integer(2, 1), message(8, title), ...content)),
    ...[0n, 1n].map((number) =>
      message(5, integer(1, 1), integer(2, 7), message(8, `is ${number}`), message(7, Buffer.of(Number(number)))),
    ),
    node({ operator: "MatMul", inputs: ["x", "w"], outputs: ["y"] }),
    node({ operator: "Shape", inputs: ["x"], outputs: ["shape"] }),
    node({ operator: "Slice", inputs: ["shape", "is 0", "is 1"], outputs: ["rows"] }),
    node({ operator: "Slice", inputs: ["v", "is 0", "rows", "is 0"], outputs: ["part"] }),
    value(12, "y", 1, ["n", size]),
    value(12, "part", 1, ["n", size]),
  ];
  const path = join(folder, name);
  writeFileSync(path, model({ opsets: { "": 17 }, graph }));
  return path;
}

function rows(count: number): Tensor {
  return { dataType: "float32", shape: [count, size], data: new Float32Array(count * size).fill(1, 0, 1) };
}

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await setTimeout(0); // what a weak reference gave is kept until the turn ends
  collect();
}

it.each([
  ["the model's file", "inside.onnx", undefined],
  ["a file beside it", "beside.onnx", "beside.bin"],
])("a loaded model needs no more of %s, whatever becomes of it", async (_where, name, external) => {
  const path = save(name, external);
  const file = { format: "onnx", path, bytes: 30_000, config: {} } as const;
  const loaded = await native().load(file, { type: "cpu", index: 0 }, {});
  for (const each of [path, ...(external === undefined ? [] : [join(folder, external)])])
    writeFileSync(each, new Uint8Array(30_000));
  await collectGarbage(); // what is only remembered must not help
  for (const count of [1, 5, 9]) {
    const { y, part } = await loaded.run({ x: rows(count) });
    expect((y!.data as Float32Array).subarray(0, size)).toEqual(elements.subarray(0, size));
    expect(part!.data).toEqual(elements.slice(0, count * size));
  }
  const { bytes } = loaded.memory;
  expect(bytes).toBeGreaterThan(2 * size * size * 4);
  expect(bytes).toBeLessThan(4 * 65_536);
  await loaded.dispose();
});
