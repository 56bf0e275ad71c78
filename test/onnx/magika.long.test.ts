/** examples/magika against what Magika itself says of the same bytes, in each of its modes. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Magika, type PredictionMode } from "../../examples/magika/magika.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

interface Golden {
  readonly prediction_mode: PredictionMode;
  readonly content_base64: string;
  readonly prediction: { readonly dl: string; readonly output: string; readonly score: number };
}

const repository = fileURLToPath(new URL("../..", import.meta.url));
const model = `${sharedData}magika`;
const [skip, name] = needsData("magika");
const goldens = skip ? [] : (JSON.parse(gunzipSync(readFileSync(`${model}/goldens-by-content.json.gz`)).toString()) as Golden[]);

describe.skipIf(skip).each(["onnx:cpu", "wasm:cpu"])(`${name} on %s`, (target) => {
  const step = amount(1, target === "onnx:cpu" ? 4 : 16); // the goldens are sorted by mode
  const tried = goldens.filter((_golden, index) => index % step === 0);
  let runtime: Runtime;
  let magika: Magika;
  beforeAll(async () => {
    runtime = await createRuntime({ target });
    magika = await Magika.load(runtime, model);
  });
  afterAll(() => runtime.dispose());

  it(`${tried.length} of 141 goldens: the label told, the model's own label, and scores within 1e-3`, async () => {
    expect(goldens).toHaveLength(141);
    expect(magika.target).toBe(target);
    const wrong: string[] = [];
    let worst = 0;
    for (const [index, { prediction_mode: mode, content_base64: content, prediction }] of tried.entries()) {
      const { label, score, modelLabel = "undefined" } = await magika.identify(Buffer.from(content, "base64"), { mode });
      worst = Math.max(worst, Math.abs(score - prediction.score));
      if (label !== prediction.output || modelLabel !== prediction.dl)
        wrong.push(`${index} ${mode}: ${modelLabel} -> ${label}, not ${prediction.dl} -> ${prediction.output}`);
    }
    expect(wrong).toEqual([]);
    expect(worst).toBeLessThan(1e-3);
  });
});

describe.skipIf(skip)(`${name}, the edges`, () => {
  it("white space alone, seven bytes of text and broken UTF-8 are not shown to the model", async () => {
    const runtime = await createRuntime();
    const magika = await Magika.load(runtime, model);
    const few = async (bytes: Uint8Array): Promise<string> => {
      const { label, score, modelLabel } = await magika.identify(bytes);
      expect([score, modelLabel]).toEqual([1, undefined]);
      return label;
    };
    expect(await few(new Uint8Array())).toBe("empty");
    expect(await few(Buffer.from(" \n".repeat(4000)))).toBe("txt");
    expect(await few(Buffer.from("1234567"))).toBe("txt");
    expect(await few(Uint8Array.of(0xff, 0xfe, 0xfd))).toBe("unknown");
    await runtime.dispose();
  });

  it("runs as a program", () => {
    const program = [join(repository, "node_modules/tsx/dist/cli.mjs"), "examples/magika/main.ts", model, "package.json"];
    const output = execFileSync(process.execPath, program, { cwd: repository, encoding: "utf8", timeout: 50_000 });
    expect(output).toMatch(/magika · \w+:cpu\n {2}package\.json {2}json {2}0\.\d+ {2}\(model: json\)/);
  });
});
