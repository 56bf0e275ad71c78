import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { native } from "../backends/native/index.ts";
import { InferyardError } from "../contract/errors.ts";
import { distill } from "./distill.ts";
import type { DistillOptions, DistillProgress } from "./distill-options.ts";
import { toUnitLength } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { randomIntegers } from "./random.ts";
import type { Teacher } from "./teacher.ts";

const dimensions = 16;
const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
const vocabulary = ["[PAD]", "[UNK]", "[unused0]", ...words];

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inferyard-distill-"));
  const truncation = { direction: "Right", max_length: 128, strategy: "LongestFirst", stride: 0 };
  const model = { type: "WordLevel", vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])), unk_token: "[UNK]" };
  await writeFile(
    join(folder, "tokenizer.json"),
    JSON.stringify({ version: "1.0", truncation, post_processor: { type: "x" }, model }, null, 2),
  );
  await writeFile(join(folder, "LICENSE"), "the teacher's licence");
});
afterAll(() => rm(folder, { recursive: true }));

const random = randomIntegers(9);
const meanings = vocabulary.map(() => Float32Array.from({ length: dimensions }, () => random(2001) / 1000 - 1));

/** A teacher in which every second word hardly counts within a text, which the word alone does not show: only text tells. */
const teacher = (): Teacher => ({
  reference: "toy",
  vocabulary,
  unknownTokenId: 1,
  dimensions,
  tokenizerPath: join(folder, "tokenizer.json"),
  tokenize: (text) =>
    text
      .split(" ")
      .filter(Boolean)
      .map((word) => Math.max(1, vocabulary.indexOf(word))),
  embedTokenIds: (batch) => Promise.resolve(batch.map(([id = 0]) => meanings[id]?.slice() ?? new Float32Array())),
  embedTexts: (texts) => Promise.resolve(texts.map(textVector)),
});

function textVector(text: string): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of text.split(" ")) {
    const id = vocabulary.indexOf(word);
    for (const [i, value] of (meanings[id] ?? []).entries()) sum[i] = (sum[i] ?? 0) + value * (id % 2 === 0 ? 0.05 : 1);
  }
  return sum;
}

const sentences = (amount: number): string[] =>
  Array.from({ length: amount }, () => Array.from({ length: 3 + random(6) }, () => words[random(words.length)]).join(" "));
const training = sentences(600);
const unseen = sentences(60);

/** Mean squared difference of cosines over pairs of texts the model has not seen. */
function disagreement(rows: Matrix): number {
  const students = unseen.map((text) => {
    const sum = new Float32Array(rows.columns);
    for (const id of teacher().tokenize(text))
      for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (rows.data[id * sum.length + i] ?? 0);
    return toUnitLength(sum);
  });
  const truth = unseen.map((text) => toUnitLength(textVector(text)));
  const dot = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
    a?.reduce((sum, value, i) => sum + value * (b?.[i] ?? 0), 0) ?? 0;
  const pairs = unseen.flatMap((_, i) =>
    unseen.slice(0, i).map((_text, j) => (dot(students[i], students[j]) - dot(truth[i], truth[j])) ** 2),
  );
  return pairs.reduce((sum, value) => sum + value, 0) / pairs.length;
}

const options = (more: Partial<DistillOptions> = {}): DistillOptions => ({
  output: join(folder, `model-${count++}`),
  name: "toy-static",
  dimensions: 12,
  text: training,
  batchSize: 32,
  learningRate: 0.02,
  answers: ["word1 word2 nothing word3", ""],
  ...more,
});

interface InferyardJson {
  readonly name: string;
  readonly variants: Record<string, { file: string; sha256: string; size: number }>;
  readonly provenance: Record<string, unknown>;
  readonly probe: { texts: { text: string; embedding: string; tolerance: number }[] };
}
const readJson = async <T>(...path: string[]): Promise<T> => JSON.parse(await readFile(join(...path), "utf8")) as T;
const leftovers = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.includes(".tmp"));

describe("a distilled model", () => {
  it.each([8, 4] as const)("of %i bits is closer to its teacher than before fitting, and answers as it says", async (bits) => {
    const stages: Record<string, number> = {};
    const wanted = options({ bits, notices: [join(folder, "LICENSE")], provenance: { teacher: "toy" }, license: "MIT" });
    const progress: DistillProgress[] = [];
    const report = await distill(teacher(), {
      ...wanted,
      onProgress: (step) => progress.push(step),
      inspect(stage, rows) {
        stages[stage] = disagreement(rows);
        return stage === "quantize" ? { figure: 1 } : undefined;
      },
    });
    expect(stages["fit"]).toBeLessThan((stages["components"] ?? 0) / 3);
    expect(stages["quantize"]).toBeLessThan((stages["components"] ?? 0) / 2);
    expect(report).toMatchObject({ tokens: 62, dimensions: 12, bits, texts: 600 });
    expect(report.losses.at(-1)).toBeLessThan((report.losses[0] ?? 0) / 2);
    expect(new Set(progress.map(({ stage }) => stage))).toEqual(
      new Set(["vocabulary", "components", "text", "fit", "quantize", "write"]),
    );
    expect(progress.findLast(({ stage }) => stage === "fit")).toMatchObject({
      done: 114,
      total: 114,
      loss: expect.any(Number) as number,
    });

    const files = ["LICENSE", "config.json", "inferyard.json", "model.safetensors", "modules.json", "tokenizer.json"];
    expect((await readdir(wanted.output)).sort()).toEqual(files);
    expect(await leftovers()).toEqual([]);
    const json = await readJson<InferyardJson>(wanted.output, "inferyard.json");
    expect(json).toMatchObject({ name: "toy-static", pooling: "mean", normalize: true, maxTokens: 512, license: "MIT" });
    expect(json.provenance).toEqual({ teacher: "toy", figure: 1 });
    const { size = 0 } = json.variants[`int${bits}`] ?? {};
    expect((await readFile(join(wanted.output, "model.safetensors"))).length).toBe(size);
    const tokenizer = await readJson<Record<string, unknown>>(wanted.output, "tokenizer.json");
    expect(tokenizer).toMatchObject({ truncation: null, padding: null, post_processor: null, model: { type: "WordLevel" } });

    const path = join(wanted.output, "model.safetensors");
    const model = await native().load({ format: "safetensors", path, bytes: size, config: {} }, { type: "cpu", index: 0 }, {});
    const ids = BigInt64Array.of(4n, 5n, 6n);
    const { sentence_embedding: mean } = await model.run({
      input_ids: { dataType: "int64", shape: [1, 3], data: ids },
      attention_mask: { dataType: "int64", shape: [1, 3], data: BigInt64Array.of(1n, 1n, 1n) },
    });
    const bytes = Buffer.from(json.probe.texts[0]?.embedding ?? "", "base64");
    const answer = Array.from({ length: 12 }, (_, i) => bytes.readFloatLE(4 * i));
    const computed = [...toUnitLength(mean?.data as Float32Array)];
    expect(Math.max(...computed.map((value, i) => Math.abs(value - (answer[i] ?? NaN))))).toBeLessThan(1e-6);
    expect(Math.hypot(...answer)).toBeCloseTo(1, 6);
    expect(json.probe.texts[1]?.embedding).toBe(Buffer.alloc(48).toString("base64"));
  });

  it("is made without text as well, and then not fitted", async () => {
    const { text: _text, ...rest } = options();
    const seen: string[] = [];
    const report = await distill(teacher(), { ...rest, inspect: (stage) => void seen.push(stage) });
    expect(report).toMatchObject({ texts: 0, losses: [] });
    expect(seen).toEqual(["components", "quantize"]);
  });

  it("takes the place of an old one only when told to", async () => {
    const wanted = options({ passes: 1 });
    await distill(teacher(), wanted);
    await writeFile(join(wanted.output, "old"), "");
    expect(await codeOf(distill(teacher(), wanted))).toBe("OUTPUT_FAILED");
    expect(await readdir(wanted.output)).toContain("old");
    await distill(teacher(), { ...wanted, replace: true });
    expect(await readdir(wanted.output)).not.toContain("old");
    expect(await leftovers()).toEqual([]);
  });
});

const codeOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => "no error",
    (error: unknown) => (error instanceof InferyardError ? error.code : error),
  );

describe("refusals leave nothing behind", () => {
  const cases: [what: string, code: string, more: Partial<DistillOptions>, change?: Partial<Teacher>][] = [
    ["more dimensions than the teacher has", "INPUT_INVALID", { dimensions: 20 }],
    ["dimensions that are no multiple of 4", "INPUT_INVALID", { dimensions: 10 }],
    ["no passes", "INPUT_INVALID", { passes: 0 }],
    ["a batch of 5", "INPUT_INVALID", { batchSize: 5 }],
    ["no text in the text", "INPUT_INVALID", { text: [] }],
    ["text of unknown words", "INPUT_INVALID", { text: ["quite other", "words here", ""] }],
    ["an empty vocabulary", "TOKENIZER_INVALID", {}, { vocabulary: ["", "[unused7]"] }],
    ["fewer tokens than dimensions", "INPUT_INVALID", {}, { vocabulary: vocabulary.slice(0, 10) }],
    [
      "a teacher that gives NaN",
      "RUN_FAILED",
      {},
      { embedTexts: (texts) => Promise.resolve(texts.map(() => new Float32Array(16).fill(NaN))) },
    ],
    [
      "a teacher that gives too few numbers",
      "RUN_FAILED",
      {},
      { embedTokenIds: (batch) => Promise.resolve(batch.map(() => new Float32Array(3))) },
    ],
    ["a tokenizer that is not there", "TOKENIZER_INVALID", { passes: 1 }, { tokenizerPath: "/nowhere/tokenizer.json" }],
    ["a notice that is not there", "OUTPUT_FAILED", { passes: 1, notices: ["/nowhere/LICENSE"] }],
  ];
  it.each(cases)("%s: %s", async (_what, code, more, change = {}) => {
    const wanted = options(more);
    expect(await codeOf(distill({ ...teacher(), ...change }, wanted))).toBe(code);
    expect(await leftovers()).toEqual([]);
    expect(await readdir(folder)).not.toContain(wanted.output.slice(folder.length + 1));
  });

  it("a folder that cannot be made, before any work", async () => {
    let asked = false;
    const watched: Teacher = { ...teacher(), embedTokenIds: () => Promise.reject((asked = true)) };
    expect(await codeOf(distill(watched, options({ output: join(folder, "LICENSE", "model") })))).toBe("OUTPUT_FAILED");
    expect(asked).toBe(false);
  });

  it.each(["vocabulary", "components", "text", "fit", "quantize"])("cancelled during %s", async (stage) => {
    const controller = new AbortController();
    const cancelled = options({
      signal: controller.signal,
      onProgress: (progress) => {
        if (progress.stage === stage) controller.abort();
      },
    });
    expect(await codeOf(distill(teacher(), cancelled))).toBe("ABORTED");
    expect(await leftovers()).toEqual([]);
  });
});
