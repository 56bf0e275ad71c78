/** Safetensors weights in several files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Tensor } from "../../contract/tensor.ts";
import { readSafetensorsTensor } from "./read-safetensors.ts";
import { pathsOfWeights, readWeightsHeader } from "./read-sharded.ts";
import { writeSafetensors } from "./write-safetensors.ts";

let folder: string;
let index: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "inferyard-shards-"));
  index = join(folder, "model.safetensors.index.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const first = "model-00001-of-00002.safetensors";
const second = "model-00002-of-00002.safetensors";
const floats = (...values: number[]): Tensor => ({
  dataType: "float32",
  shape: [values.length],
  data: Float32Array.from(values),
});
const write = (content: unknown): void => writeFileSync(index, typeof content === "string" ? content : JSON.stringify(content));

async function writeShards(map: Readonly<Record<string, unknown>> = { a: first, b: second, c: first }): Promise<void> {
  await writeSafetensors(join(folder, first), { a: floats(1, 2), c: floats(3), unlisted: floats(9) }, { format: "pt" });
  await writeSafetensors(join(folder, second), { b: floats(4, 5, 6) }, {});
  write({ metadata: { total_size: 24 }, weight_map: map });
}

describe("an index of safetensors files", () => {
  it("is read as one header: each tensor from the file that the index names", async () => {
    await writeShards();
    const header = await readWeightsHeader(index);
    expect([...header.tensors.keys()]).toEqual(["a", "b", "c"]);
    expect(header).toMatchObject({ path: index, bytes: 24, metadata: new Map([["format", "pt"]]) });
    expect(await pathsOfWeights(index)).toEqual([index, join(folder, first), join(folder, second)]);
    for (const [name, data] of [
      ["a", [1, 2]],
      ["b", [4, 5, 6]],
      ["c", [3]],
    ] as const)
      expect([...((await readSafetensorsTensor(header, name)).data as Float32Array)]).toEqual(data);
    expect(await pathsOfWeights(join(folder, first))).toEqual([join(folder, first)]);
    expect([...(await readWeightsHeader(join(folder, second))).tensors.keys()]).toEqual(["b"]);
  });

  it.each<[string, unknown, RegExp]>([
    ["text", "not json", /it is not JSON/],
    ["nothing", "", /it is not JSON/],
    ["null", "null", /no weight_map/],
    ["a list for the map", { weight_map: [] }, /no weight_map/],
    ["an empty map", { weight_map: {} }, /names no tensors/],
    ["a number for a file", { weight_map: { a: 5 } }, /the file of "a" is 5/],
    ["a file outside of the folder", { weight_map: { a: "../secret.safetensors" } }, /must be a \.safetensors file beside it/],
    ["an absolute path", { weight_map: { a: "/etc/x.safetensors" } }, /must be a \.safetensors file beside it/],
    ["a file of another kind", { weight_map: { a: "config.json" } }, /must be a \.safetensors file beside it/],
    [
      "a tensor that the file lacks",
      { weight_map: { a: second } },
      /model-00002-of-00002.safetensors holds "a", which that file does not/,
    ],
    ["a file that is missing", { weight_map: { a: "model-00003-of-00002.safetensors" } }, /there is no such file/],
  ])("with %s is MODEL_INVALID", async (_case, content, message) => {
    await writeShards();
    write(content);
    await expect(readWeightsHeader(index)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("that is missing is MODEL_NOT_FOUND, a damaged part is named", async () => {
    await expect(readWeightsHeader(index)).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await writeShards();
    writeFileSync(join(folder, second), "short");
    await expect(readWeightsHeader(index)).rejects.toMatchObject({
      code: "MODEL_INVALID",
      message: expect.stringContaining(second),
    });
    writeFileSync(index, Buffer.from([0x7b, 0xff, 0xfe]));
    await expect(readWeightsHeader(index)).rejects.toMatchObject({ message: expect.stringContaining("not UTF-8") });
  });
});
