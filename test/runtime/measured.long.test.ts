/** `inferyard tune`, and what the settings of memory change, in processes of their own. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { inferyardProcess } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const miniLm = `${sharedData}all-MiniLM-L6-v2`;
const directory = mkdtempSync(join(tmpdir(), "inferyard-measured-"));
afterAll(() => rmSync(directory, { recursive: true }));

interface Tuning {
  readonly kind: string;
  readonly targets: readonly [
    { readonly target: string; readonly verdict: string; readonly figures: { trials: { knob: string }[]; settings: object } },
  ];
}

describe("tune", () => {
  it("measures the values of a setting, and writes nothing that is not better", async () => {
    const yaml = join(directory, "inferyard.yaml");
    writeFileSync(yaml, "# mine\nkeepAlive: 1m\n");
    const args = ["tune", "builtin", "--only", "threads", "--rounds", "2", "--count", "2", "--write", "--json"];
    const { code, stdout, stderr } = await inferyardProcess(args, { directory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { kind, targets } = JSON.parse(stdout) as Tuning;
    const [{ target, verdict, figures }] = targets;
    expect([kind, target, verdict]).toEqual(["embedding", "native:cpu", "pass"]);
    expect(new Set(figures.trials.map(({ knob }) => knob))).toEqual(new Set(["threads"]));
    const text = readFileSync(yaml, "utf8");
    expect(text).toMatch(/^# mine\nkeepAlive: 1m\n/);
    expect(text === "# mine\nkeepAlive: 1m\n").toBe(Object.keys(figures.settings).length === 0);
  });

  const [skip, name] = needsData("a language model is tuned by its threads, and by nothing that changes none of it");
  it.skipIf(skip)(name, async () => {
    const model = `${sharedData}gguf-tiny-llama/tiny-llama-f32.gguf`;
    const args = ["tune", model, "--target", "native:cpu", "--rounds", "2", "--count", "2", "--json"];
    const { code, stdout } = await inferyardProcess(args, { directory });
    const { kind, targets } = JSON.parse(stdout) as Tuning;
    expect([code, kind, targets[0].verdict]).toEqual([0, "language", "pass"]);
    expect(new Set(targets[0].figures.trials.map(({ knob }) => knob))).toEqual(new Set(["threads"]));
    const refused = await inferyardProcess(["tune", model, "--only", "batchTokens"], { directory });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("batchTokens changes nothing for")]);
  });

  it("one round is refused: it tells nothing from chance", async () => {
    const { code, stderr } = await inferyardProcess(["tune", "builtin", "--rounds", "1"], { directory });
    expect(code).toBe(2);
    expect(stderr).toContain("one round does not tell a gain from chance");
  });
});

const [skipKnobs, knobsName] = needsData("the settings of memory, on MiniLM in a worker");
describe.skipIf(skipKnobs)(knobsName, () => {
  /** Resident memory after two large batches and a small one, in MB, less what there was before them. */
  async function heldAfterBatches(settings: object): Promise<number> {
    const script = `
      import { createRuntime } from "inferyard";
      const runtime = await createRuntime();
      const model = await runtime.load(${JSON.stringify(miniLm)}, { target: "onnx:cpu", variant: "int8", ...${JSON.stringify(settings)} });
      const before = process.memoryUsage().rss;
      for (const rows of [16, 16, 1]) {
        const tensor = (value) => ({ dataType: "int64", shape: [rows, 256], data: new BigInt64Array(rows * 256).fill(value) });
        await model.run({ input_ids: tensor(1000n), attention_mask: tensor(1n), token_type_ids: tensor(0n) });
      }
      console.log((process.memoryUsage().rss - before) / 1e6);
      await runtime.dispose();`;
    return new Promise((resolve, reject) => {
      const args = ["--input-type=module", "--eval", script];
      const cwd = fileURLToPath(new URL("../..", import.meta.url));
      execFile(process.execPath, args, { cwd }, (error, stdout) => (error === null ? resolve(Number(stdout)) : reject(error)));
    });
  }

  it("less is held after large batches without the arena, and without patterns, than by default", async () => {
    const byDefault = await heldAfterBatches({});
    for (const settings of [{ memoryArena: false }, { memoryPattern: false }])
      expect(await heldAfterBatches(settings), JSON.stringify(settings)).toBeLessThan(byDefault * 0.8);
  });
});
