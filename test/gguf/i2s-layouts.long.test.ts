/** I2_S weights in the order of each machine that writes them: asked for, found by the known answers of a model, or stated by the file. */
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { native } from "inferyard/backends/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../src/models/index.ts";
import { quantizeGguf } from "../../src/models/gguf/quantize.ts";
import { caseOf, ids, type Layout, text, writeCase } from "./fixtures/gguf-models.ts";
import { worst } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

const layouts: readonly Layout[] = ["x86", "x86-interleaved", "arm"];
const embedder = caseOf("BitNet embedding model like Qwen3");
const vector = Float32Array.from(embedder.vector ?? []);
/** Activations are rounded to 8 bits. */
const tolerance = 0.02;
const logitTolerance = 0.1;

let runtime: Awaited<ReturnType<typeof createRuntime>>;
beforeAll(async () => (runtime = await createRuntime({ threads: 1, host: "inline" })));
afterAll(() => runtime.dispose());

/** A folder with the model in this layout and known answers. */
function folderWith(layout: Layout, answer: Float32Array): string {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-i2s-"));
  copyFileSync(writeCase(embedder, { layout }), join(folder, "model.gguf"));
  const embedding = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength).toString("base64");
  const probe = { texts: [{ text, embedding, tolerance }] };
  writeFileSync(join(folder, "inferyard.json"), JSON.stringify({ name: "ternary", probe }));
  return folder;
}

describe.each(layouts)("%s", (layout) => {
  it("is read when it is asked for, and gives other vectors when another one is", async () => {
    const model = writeCase(embedder, { layout });
    const other = layouts[(layouts.indexOf(layout) + 1) % layouts.length]!;
    for (const i2sLayout of runsAll ? layouts : [layout, other]) {
      const { embeddings, decision } = await runtime.embed(text, { model, i2sLayout });
      const difference = worst(embeddings[0]!, vector);
      expect(difference < tolerance, `${layout} as ${i2sLayout}`).toBe(i2sLayout === layout);
      expect(decision.selected?.evidence.join("\n")).toContain(`in the layout ${i2sLayout}: i2sLayout asks for it`);
    }
  });

  it("is found by a known answer", async () => {
    const { embeddings, decision } = await runtime.embed(text, { model: folderWith(layout, vector) });
    expect(worst(embeddings[0]!, vector)).toBeLessThan(tolerance);
    expect(decision.selected?.evidence.join("\n")).toContain(`the known answers hold with I2_S weights in the layout ${layout}`);
  });

  it("holds for language models", async () => {
    const golden = caseOf("bitnet-b1.58");
    const { variants } = await readManifest(writeCase(golden, { layout }));
    const model = await ours.loadLanguage!(variants[0] as never, { type: "cpu", index: 0 }, { engine: { i2sLayout: layout } });
    const [logits] = await model.decode([{ sequence: await model.createSequence(), tokens: ids, logits: ids.length }]);
    await model.dispose();
    expect(worst(logits!, Float32Array.from(golden.states))).toBeLessThan(logitTolerance);
  });
});

it("a model whose known answers hold in no layout is refused, with what each gave", async () => {
  const wrong = vector.map((value) => -value);
  const error = await runtime.load(folderWith("arm", wrong), { target: "native" }).then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  for (const layout of layouts) expect(error?.message).toContain(`${layout}: the embedding of`);
});

it("without known answers the evidence says that the layout is assumed", async () => {
  const { decision } = await runtime.embed(text, { model: writeCase(embedder, { layout: "x86" }) });
  expect(decision.selected?.evidence.join("\n")).toContain("in the layout x86, which the file does not state");
});

it("files of inferyard quantize state it", async () => {
  const output = join(mkdtempSync(join(tmpdir(), "inferyard-i2s-")), "quantized.gguf");
  await quantizeGguf(writeCase(embedder), "model.gguf", { to: "i2_s", output });
  const { embeddings, decision } = await runtime.embed(text, { model: output });
  expect(worst(embeddings[0]!, vector)).toBeLessThan(0.02); // the embeddings are in Q8_0
  expect(decision.selected?.evidence.join("\n")).toContain("in the layout x86: the file states it");
  await expect(runtime.embed(text, { model: output, i2sLayout: "arm", target: "native" })).rejects.toThrow(/the file states x86/);
});

it("targets that do not read I2_S are refused", async () => {
  const model = writeCase(caseOf("bitnet"), { layout: "arm" });
  const { candidates } = await runtime.explain(model, { i2sLayout: "arm", kind: "language" });
  const refusal = candidates.find(({ target }) => target === "llamacpp:cpu");
  expect(refusal).toMatchObject({ verdict: "refused", reason: expect.stringContaining("i2sLayout") });
});
