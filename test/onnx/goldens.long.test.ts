/** scripts/goldens/main.ts: that it passes where models and goldens agree, and fails where one number is not what it was. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GoldenResult, runGoldens } from "../../scripts/goldens/run.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { amount, onRequest, runsAll, sampled } from "../fixtures/slow.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "inferyard-goldens-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [skip, name] = needsData("goldens");

/** A copy of a model under another name, whose goldens are changed. The models themselves are read where they lie. */
function copy(model: string, as: string, change: (goldens: never) => unknown): void {
  const path = join(folder, as);
  mkdirSync(path, { recursive: true });
  cpSync(`${sharedData}${model}`, path, { recursive: true, filter: (file) => !file.endsWith("goldens.json") });
  const goldens = JSON.parse(readFileSync(`${sharedData}${model}/goldens.json`, "utf8")) as never;
  writeFileSync(join(path, "goldens.json"), JSON.stringify(change(goldens) ?? goldens));
}

/** Base64 of floats with one of them moved by `by`. */
function moved(encoded: { data: string }, place: number, by: number): void {
  const bytes = Buffer.from(encoded.data, "base64");
  bytes.writeFloatLE(bytes.readFloatLE(place * 4) + by, place * 4);
  encoded.data = bytes.toString("base64");
}

interface Item {
  readonly input_ids: number[];
  readonly logits: number[] & { data: string };
  readonly last_hidden_state: { data: string };
  readonly mean_pooled: { data: string };
  readonly splade: { values: { data: string } };
  readonly generated_ids: number[];
  readonly step_logits_last: { data: string };
  readonly first_step_logits: { data: string };
  readonly encoder_last_hidden_state: { data: string };
  readonly pipeline: Record<string, { end: number; score: number }[]>;
  logit: number;
  label: string;
}

interface Goldens {
  format?: string;
  readonly items: Item[];
  readonly rank: { result: { corpus_id: number }[] };
  readonly zero_shot: { labels: string[]; scores: number[] }[];
  readonly batch_left_padded: { generated_ids: number[][] };
  readonly joint: { logits_per_image: number[][] };
  readonly argmax_ids: number[];
  readonly greedy_raw: { last_step_logits: { data: string } };
  readonly ranking: number[];
  readonly tensors: { dequantized_sha256: string }[];
  readonly matvec: { accumulators_int32: number[] }[];
  readonly documents: { maxsim: number }[];
}

const item = (goldens: Goldens, index: number): Item => goldens.items[index]!;

/** What is damaged, and what must be said of it. */
const damages: readonly (readonly [model: string, words: RegExp, change: (goldens: Goldens) => unknown])[] = [
  [
    "tiny-random-bert",
    /hidden states of item 2 .*off by 1\.\de-2, and 1e-4 is allowed/,
    (all) => moved(item(all, 2).last_hidden_state, 5, 0.01),
  ],
  ["tiny-random-bert", /pooled vectors of mean, item 0/, (all) => moved(item(all, 0).mean_pooled, 0, -0.001)],
  ["tiny-random-bert", /token ids of item 1/, (all) => item(all, 1).input_ids.splice(1, 1, 7)],
  ["tiny-random-deberta-v3", /logits of item 0/, (all) => (item(all, 0).logits[1]! += 0.001)],
  ["tiny-random-modernbert", /labels of item 0/, (all) => (item(all, 0).label = "positive")],
  ["tiny-random-cross-encoder", /logits of item 3/, (all) => (item(all, 3).logit += 0.001)],
  ["tiny-random-cross-encoder", /orders of the ranking/, ({ rank }) => rank.result.reverse()],
  ["tiny-bert-nli-untrained", /scores of zero-shot item 1/, (all) => (all.zero_shot[1]!.scores[0]! += 0.0001)],
  ["tiny-bert-nli-untrained", /orders of zero-shot item 0/, (all) => all.zero_shot[0]!.labels.reverse()],
  ["tiny-random-splade", /sparse weights of item 4/, (all) => moved(item(all, 4).splade.values, 3, 0.01)],
  ["tiny-random-colbert", /orders of the ranking/, ({ ranking }) => ranking.reverse()],
  ["tiny-random-colbert", /MaxSim scores of item 2/, ({ documents }) => (documents[2]!.maxsim += 0.01)],
  ["tiny-random-gpt2", /generated ids of item 1/, (all) => item(all, 1).generated_ids.reverse()],
  ["gguf-block-types", /decoded tensors of Q4_K/, ({ tensors }) => (tensors[13]!.dequantized_sha256 = "0")],
  ["gguf-bitnet-i2_s", /sums of products of vector 1/, ({ matvec }) => (matvec[1]!.accumulators_int32[3]! += 1)],
  ["tiny-random-llama", /logits of the last step of item 3/, (all) => moved(item(all, 3).step_logits_last, 9, 0.001)],
  ["tiny-random-qwen2", /generated ids of the batch/, (all) => all.batch_left_padded.generated_ids[2]!.reverse()],
  ["tiny-random-t5", /hidden states of item 0/, (all) => moved(item(all, 0).encoder_last_hidden_state, 1, 0.001)],
  ["tiny-random-bart", /logits of the last step of item 2/, (all) => moved(item(all, 2).step_logits_last, 0, -0.001)],
  ["tiny-random-trocr", /logits of the first step of/, (all) => moved(item(all, 1).first_step_logits, 2, 0.001)],
  ["tiny-random-vit", /logits of .*png/, (all) => (item(all, 1).logits[0]! += 0.001)],
  ["tiny-random-clip", /joint logits of .*png/, ({ joint }) => (joint.logits_per_image[1]![2]! += 0.01)],
  ["tiny-random-wav2vec2-ctc", /highest ids of chirp/, ({ argmax_ids: wanted }) => (wanted[7]! += 1)],
  ["tiny-random-whisper", /logits of the last step/, ({ greedy_raw: raw }) => moved(raw.last_step_logits, 3, 0.001)],
  ["minilm-l3-ner", /entities of first, item 0/, (all) => (item(all, 0).pipeline["first"]![0]!.end += 1)],
  ["minilm-l3-ner", /scores of max, item 1/, (all) => (item(all, 1).pipeline["max"]![0]!.score -= 0.001)],
  [
    "tiny-random-splade",
    /goldens\.json is not splade-goldens-v1: items\[0\]\.splade/,
    (all) => Reflect.deleteProperty(item(all, 0), "splade"),
  ],
];

/** Of each run, every model is held on one target: these on native, one for each kind of goldens that it computes, and the others on onnx:cpu. */
const onNative: ReadonlySet<string> = new Set([
  "gguf-bitnet-i2_s",
  "gguf-block-types",
  "minilm-l3-ner",
  "tiny-bert-nli-untrained",
  "tiny-random-bart",
  "tiny-random-qwen2",
  "tiny-random-vit",
]);

/** Damaged goldens of each run: of each form of values that goldens have. */
const damagesOfEachRun =
  /token ids|off by|ranking|zero-shot item 1|sparse weights|generated ids of item|decoded tensors|sums of products|first step|entities|is not splade/;

describe.skipIf(skip)(name, () => {
  const models = skip ? [] : readdirSync(sharedData).filter((model) => existsSync(`${sharedData}${model}/goldens.json`));
  const onOneTarget = models
    .filter((model) => !["gguf-tiny-llama", "ocr-pages", "whisper-base"].includes(model)) // in gguf-models.test.ts; of tasks that are not built
    .map((model) => [model, onNative.has(model) ? "native" : "onnx:cpu"] as const);

  it.skipIf(runsAll).each(onOneTarget)("%s passes on %s", async (model, target) => {
    const results = await runGoldens(`${sharedData}${model}`, [target], () => {});
    expect(results.map(({ verdict, reason }) => ({ verdict, reason }))).toEqual(results.map(() => ({ verdict: "passed" })));
    expect(results).not.toEqual([]);
  });

  const [skipAll, all] = onRequest("all of the shared data pass on %s, unless it does not run their format");
  it.skipIf(skipAll).each([
    ["onnx:cpu", 24, ["gguf-tiny-llama"]],
    ["native", 25, []],
  ] as const)(all, async (target, count, others) => {
    const results = await runGoldens(sharedData, [target], () => {});
    expect(results.filter(({ verdict }) => verdict === "failed").map(({ model, reason }) => [model, reason])).toEqual([]);
    const passed = results.filter(({ verdict }) => verdict === "passed");
    expect(passed).toHaveLength(count);
    for (const { model, largest, compared } of passed) {
      const { difference, tolerance } = largest ?? { difference: 0, tolerance: 1 }; // exact values have no tolerance
      expect(difference, model).toBeLessThan(tolerance);
      expect(Object.values(compared).every((count) => count > 0)).toBe(true);
    }
    const refused = results.filter(({ verdict }) => verdict === "refused");
    expect(refused.map(({ model }) => model)).toEqual(others);
    for (const { reason } of refused) expect(reason).toMatch(/^onnx does not run gguf/);
  });

  const [skipGguf, gguf] = onRequest(
    "GGUF models are held against theirs on both engines that run them, where no target is asked for",
  );
  it.skipIf(skipGguf)(gguf, async () => {
    const results = await runGoldens(`${sharedData}gguf-tiny-llama`, undefined, () => {});
    expect(results.map(({ target, verdict }) => [target, verdict])).toEqual([
      ["llamacpp:cpu", "passed"],
      ["native:cpu", "passed"],
    ]);
  });

  describe("a copy of a model", () => {
    let results: readonly GoldenResult[] = [];
    beforeAll(async () => {
      for (const [index, [model, words, change]] of damages.entries())
        if (runsAll || damagesOfEachRun.test(String(words)))
          copy(model, `damaged/number-${index}`, (goldens) => void change(goldens));
      copy("tiny-random-bert", "other/a/b/nameless", (goldens: Goldens) => void delete goldens.format);
      copy("tiny-random-bert", "other/unknown", (goldens: Goldens) => void (goldens.format = "feature-extraction-goldens-v9"));
      copy("tiny-random-bert", "other/strange", () => ({ some: 1, thing: 2 }));
      copy("tiny-random-bert", "other/empty", (goldens: Goldens) => ({ ...goldens, items: [] }));
      copy("tiny-random-bert", "other/lost", () => {});
      rmSync(join(folder, "other/lost/onnx"), { recursive: true });
      copy("tiny-random-bert", "other/broken", () => {});
      writeFileSync(join(folder, "other/broken/goldens.json"), "{");
      symlinkSync(folder, join(folder, "other/loop"));
      results = await runGoldens(folder, ["onnx:cpu"], () => {});
    });
    const of = (model: string): GoldenResult | undefined => results.find((result) => result.model === model);

    for (const [skipDamages, damaged, rows] of sampled(
      "%s with one golden damaged fails: %s",
      damages.map(([model, words], index) => [model, words, index] as const),
      ([, words]) => damagesOfEachRun.test(String(words)),
    ))
      it.skipIf(skipDamages).each(rows)(damaged, (_model, words, index) => {
        expect(of(`damaged/number-${index}`)?.verdict).toBe("failed");
        expect(of(`damaged/number-${index}`)?.reason).toMatch(words);
      });

    it("is recognised by the goldens' own structure, whatever its folder is called", () =>
      expect(of("other/a/b/nameless")).toMatchObject({ verdict: "passed", format: null, compared: { "hidden states": 11 } }));

    it.each([
      ["other/unknown", "refused", /^goldens\.json has no form this knows \(keys format, model, seed, /],
      ["other/strange", "refused", /^goldens\.json has no form this knows \(keys some, thing\)$/],
      ["other/empty", "failed", /is not feature-extraction-goldens-v1: items/],
      ["other/broken", "failed", /^goldens\.json cannot be read: .*JSON/],
    ])("%s is %s", (model, verdict, reason) => {
      expect(of(model)).toMatchObject({ verdict, reason: expect.stringMatching(reason) });
    });

    it("without its graph, it runs on no engine here", () => {
      expect(of("other/lost")).toMatchObject({ verdict: "refused", compared: {} });
      expect(of("other/lost")?.reason).toMatch(/safetensors/);
    });
  });

  it("ends with 0, 1 and 2, and says in its last line how many passed", () => {
    const goldens = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(
        process.execPath,
        [join(repository, "node_modules/tsx/dist/cli.mjs"), join(repository, "scripts/goldens/main.ts"), ...args],
        {
          cwd: repository,
          encoding: "utf8",
          timeout: 100_000,
        },
      );
    const sound = goldens("--data", `${sharedData}tiny-random-colbert`);
    expect(sound.stdout).toMatch(
      /^\. {2}onnx:cpu {2}5 token ids, 5 token vectors, .* {2}largest difference \S+ of 1e-4 \(token vectors\) {2}passed\n\. {2}wasm:cpu .* {2}passed\ngoldens: 2 passed, 0 failed, 0 refused\n$/,
    );
    expect(sound.status).toBe(0);
    const damaged = goldens("--data", join(folder, "damaged/number-0"), "--target", "onnx:cpu", "--json");
    expect(damaged.status).toBe(1);
    expect(JSON.parse(damaged.stdout)).toMatchObject({ passed: 0, failed: 1, refused: 0, results: [{ verdict: "failed" }] });
    const refusals = [
      [[], /--data is missing/],
      [["--data", join(folder, "none")], /is not there/],
      [["--data", join(repository, "src")], /there is no goldens\.json in/],
      [["--data", folder, "--target", "gpu"], /no backend is called "gpu"/],
      [["--date", folder], /--date/],
    ] as const;
    for (const [args, words] of refusals.slice(0, amount(refusals.length, 2))) {
      const { status, stderr } = goldens(...args);
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(words) });
    }
  });
});
