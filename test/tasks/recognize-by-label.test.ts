/** Names of kinds one chooses: a GLiNER-shaped model whose answers are known beforehand, on real engines. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Entity, type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeSpanModel } from "../fixtures/models/span-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const labels = ["person", "city"];
const text = "Yesterday Maria Schmidt 👩‍👩‍👧 left Paris, and Maria Schmidt went to London-Paris.";
const brief = ({ entityGroup, word, start, end }: Entity): unknown[] => [entityGroup, word, start, end];

const [skip, title] = needsData("names of kinds one chooses");
describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-spans-"));
  const model = join(folder, "gliner");
  beforeAll(() =>
    writeSpanModel(model, {
      tokenizerFolder: `${sharedData}all-MiniLM-L6-v2`,
      groups: [
        ["person", "maria", "schmidt"],
        ["city", "paris", "london"],
      ],
      maxWidth: 4,
      maxWords: 20,
      maxTokens: 64,
    }),
  );
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each(["onnx:cpu", "wasm:cpu"])("on %s", (target) => {
    let runtime: Runtime;
    beforeAll(async () => (runtime = await createRuntime({ target, host: "inline", threads: 1 })));
    afterAll(() => runtime.dispose());

    it("finds whole names with their places, in every text of a batch, whatever the order of the labels", async () => {
      const texts = [text, "", "Nothing here.", "london paris"];
      const { results, windows } = await runtime.recognize(texts, { model, labels });
      expect(results.map((entities) => entities.map(brief))).toEqual([
        [
          ["person", "Maria Schmidt", 10, 23],
          ["city", "Paris", 38, 43],
          ["person", "Maria Schmidt", 49, 62],
          ["city", "London-Paris", 71, 83],
        ],
        [],
        [],
        [["city", "london paris", 0, 12]],
      ]);
      for (const { start, end, word, score } of results[0]!) {
        expect(text.slice(start, end)).toBe(word);
        expect(score).toBeGreaterThan(0.9999);
      }
      expect(windows).toEqual([1, 0, 1, 1]);
      const turned = await runtime.recognize(texts, { model, labels: labels.toReversed() });
      expect(turned.results).toEqual(results);
      const cities = await runtime.recognize(texts, { model, labels: ["city"] });
      expect(cities.results[0]!.map(brief)).toEqual(results[0]!.map(brief).filter(([kind]) => kind === "city"));
    });

    it("counts places in code points and bytes", async () => {
      const { results } = await runtime.recognize(text, { model, labels, offsets: "codepoints" });
      for (const { word, start, end } of results[0]!) expect(Array.from(text).slice(start, end).join("")).toBe(word);
      const inBytes = await runtime.recognize(text, { model, labels, offsets: "bytes" });
      for (const { word, start, end } of inBytes.results[0]!)
        expect(Buffer.from(text).subarray(start, end).toString()).toBe(word);
    });

    it("tells names inside names, and several labels of one, when asked to", async () => {
      const nested = await runtime.recognize("Maria Schmidt", { model, labels, nested: true });
      expect(nested.results[0]!.map(brief)).toEqual([
        ["person", "Maria", 0, 5],
        ["person", "Maria Schmidt", 0, 13],
        ["person", "Schmidt", 6, 13],
      ]);
      const both = ["person", "Maria"];
      const one = await runtime.recognize("Schmidt", { model, labels: both });
      expect(one.results[0]!.map(brief)).toEqual([["person", "Schmidt", 0, 7]]);
      const several = await runtime.recognize("Schmidt", { model, labels: both, multiLabel: true });
      expect(several.results[0]!.map(({ entityGroup }) => entityGroup)).toEqual(both);
    });

    it("reads long texts in windows, and finds the name that lies across their edge once", async () => {
      const words = Array.from({ length: 90 }, (_word, index) => (index % 15 === 7 ? "Maria Schmidt" : "and"));
      const long = words.join(" ");
      const { results, windows } = await runtime.recognize(long, { model, labels });
      expect(windows[0]).toBeGreaterThan(4);
      expect(results[0]!.map(({ word }) => word)).toEqual(Array.from({ length: 6 }, () => "Maria Schmidt"));
      for (const { word, start, end } of results[0]!) expect(long.slice(start, end)).toBe(word);
      await expect(runtime.recognize(long, { model, labels, truncate: "error" })).rejects.toMatchObject({
        code: "INPUT_TOO_LONG",
      });
    });

    it("leaves out what scores no more than the threshold", async () => {
      const { results } = await runtime.recognize("Maria", { model, labels, threshold: 0.99999 });
      expect(results).toEqual([[]]); // sigmoid(10) is 0.99995
    });
  });

  it("refuses what means nothing, each with a reason", async () => {
    const runtime = await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 });
    const refused = (request: object): Promise<unknown> => runtime.recognize("Maria", { model, ...request });
    await expect(refused({})).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("is a GLiNER model and was given no labels"),
    });
    await expect(refused({ labels: [] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(refused({ labels: [" "] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(refused({ labels, aggregation: "first" })).rejects.toThrow(/has no effect/);
    await expect(refused({ labels, threshold: 1 })).rejects.toThrow(/threshold is 1/);
    await expect(refused({ labels: [`person ${"and ".repeat(80)}`] })).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
    const trained = { model: `${sharedData}minilm-l3-ner` };
    await expect(refused({ ...trained, labels })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("PER"),
    });
    await expect(refused({ ...trained, nested: true })).rejects.toThrow(/has no effect without/);
    const damaged = join(folder, "damaged");
    cpSync(model, damaged, { recursive: true });
    writeFileSync(`${damaged}/gliner_config.json`, JSON.stringify({ max_width: -1 }));
    await expect(refused({ model: damaged, labels })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    await runtime.dispose();
  });
});
