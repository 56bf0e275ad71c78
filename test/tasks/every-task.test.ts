/** What holds for every task, on real models: batches change nothing, calls side by side change nothing, and odd texts get an answer. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InferyardError, type Runtime, createRuntime } from "inferyard";
import { writeHeadModel } from "../fixtures/models/answering-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

/** What a task said of one text: numbers that may differ in their last digits, and words that may not. */
interface Said {
  readonly numbers: readonly number[];
  readonly words: readonly unknown[];
}

interface Task {
  readonly name: string;
  /** One answer per text. */
  run(runtime: Runtime, texts: readonly string[]): Promise<Said[]>;
}

const scored = (items: readonly { readonly score: number }[]): Said => ({
  numbers: items.map(({ score }) => score),
  words: items.map(({ score: _score, ...rest }) => rest),
});
const vectors = (embeddings: readonly Float32Array[]): Said[] =>
  embeddings.map((vector) => ({ numbers: [...vector], words: [vector.length] }));
const at = (model: string): string => (model === "builtin" ? model : `${sharedData}${model}`);

const embedding = (model: string, pooling?: "none" | "mean"): Task => ({
  name: `embed, ${model}${pooling === undefined ? "" : `, ${pooling}`}`,
  run: async (runtime, texts) => {
    const request = { model: at(model), ...(pooling === undefined ? {} : { pooling }) };
    return vectors((await runtime.embed(texts, request)).embeddings);
  },
});
const classifying = (model: string): Task => ({
  name: `classify, ${model}`,
  run: async (runtime, texts) => (await runtime.classify(texts, { model: at(model) })).results.map(scored),
});
/** The documents' scores in their own order. */
const ranking = (model: string): Task => ({
  name: `rerank, ${model}`,
  run: async (runtime, texts) => {
    const { results } = await runtime.rerank("Who wrote the book?", texts, { model: at(model) });
    return [...results]
      .sort((a, b) => a.index - b.index)
      .map(({ score, text }) => scored([{ score, text } as { score: number }]));
  },
});

const tasks: readonly Task[] = [
  embedding("builtin"),
  embedding("all-MiniLM-L6-v2"),
  embedding("tiny-random-bert", "mean"),
  embedding("tiny-random-colbert", "none"),
  {
    name: "embedSparse",
    run: async (runtime, texts) => {
      const { embeddings } = await runtime.embedSparse(texts, { model: at("tiny-random-splade") });
      // In the order of the vocabulary: equal weights may change places with the last digit.
      return embeddings.map(({ indices, values }) => {
        const pairs = Array.from(indices, (id, place) => [id, values[place]!] as const).sort(([a], [b]) => a - b);
        return { numbers: pairs.map(([, value]) => value), words: pairs.map(([id]) => id) };
      });
    },
  },
  classifying("tiny-random-deberta-v3"),
  classifying("tiny-random-modernbert"),
  {
    name: "classify, pairs",
    run: async (runtime, texts) => {
      const pairs = texts.map((text) => ({ text, pair: "A person sleeps." }));
      return (await runtime.classify(pairs, { model: at("tiny-bert-nli-untrained") })).results.map(scored);
    },
  },
  {
    name: "classify, labels of one's own",
    run: async (runtime, texts) => {
      const request = { model: at("tiny-bert-nli-untrained"), labels: ["sport", "politics"], multiLabel: true };
      return (await runtime.classify(texts, request)).results.map(scored);
    },
  },
  ranking("builtin"),
  ranking("tiny-random-cross-encoder"),
  ranking("tiny-random-colbert"),
  {
    name: "fillMask",
    run: async (runtime, texts) => {
      const masked = texts.map((text) => `the [MASK] is ${text}`);
      const { results } = await runtime.fillMask(masked, { model: at("tiny-random-splade") });
      return results.map((masks) => scored(masks.flat()));
    },
  },
  {
    name: "answer",
    run: async (runtime, texts) => {
      const { results } = await runtime.answer("Who?", texts, { model: answering(), topK: 3, noAnswer: true });
      return results.map(scored);
    },
  },
  {
    name: "similarity",
    run: async (runtime, texts) => {
      const { scores } = await runtime.similarity(texts, ["a dog", "trains"], { model: at("tiny-random-bert"), pooling: "mean" });
      return vectors(scores);
    },
  },
  {
    name: "extract",
    run: async (runtime, texts) => {
      const schema = { name: { entity: ["PER", "ORG"] }, places: { entity: "LOC", many: true }, who: { question: "Who?" } };
      const models = { model: at("minilm-l3-ner"), questionModel: answering() };
      const { results } = await runtime.extract(texts, { ...models, schema });
      return results.map((fields) => scored(Object.values(fields).flatMap((field) => field ?? [])));
    },
  },
  {
    name: "recognize",
    run: async (runtime, texts) => (await runtime.recognize(texts, { model: at("minilm-l3-ner") })).results.map(scored),
  },
];

const sentences = [
  "Angela Merkel visited Paris in 2015.",
  "A cat.",
  "",
  "The quick brown fox jumps over the lazy dog near the river bank while Maria Schmidt of Siemens watches from London.",
  "東京 and 👩‍👩‍👧 in São Paulo",
  "word ".repeat(60),
  "Der Zug fährt um neun Uhr von Berlin nach München ab.",
  "one two three four five six seven eight nine ten ".repeat(2),
];

/** Texts that break tokenizers, and what they are. */
const odd: readonly (readonly [string, string])[] = [
  ["an empty string", ""],
  ["white space", " \t\n\u00A0"],
  ["a lone surrogate", "a \uD800 b"],
  ["NUL bytes", "a\0b\0\0"],
  ["a mark with nothing to stand on", "\u0301\u0301"],
  ["emoji joined", "👨‍👩‍👧‍👦🏳️‍🌈"],
  ["right to left", "שלום \u202Eעולם"],
  ["text over the limit", "a sentence that goes on and on ".repeat(90)],
  ["a quarter of a million of one letter", "a".repeat(250_000)],
];

/** An encoder of random weights with a head for answers. */
const folder = mkdtempSync(join(tmpdir(), "inferyard-every-"));
afterAll(() => rmSync(folder, { recursive: true }));
function answering(): string {
  const model = join(folder, "answering");
  if (!existsSync(model)) {
    const weights = Float32Array.from({ length: 64 }, (_weight, index) => 3 * Math.sin(index * 1.7 + 0.3));
    writeHeadModel(model, at("tiny-random-bert"), weights);
  }
  return model;
}

/** Pairs of sentences, each a call of its own: the shortest beside the longest among them. */
const parts = [
  [0, 3],
  [1, 5],
  [2, 6],
  [4, 7],
].map((pair) => pair.map((index) => sentences[index]!));

const settings = { prefer: "onnx:cpu", host: "inline", threads: 1, keepAlive: "10m" } as const;

const [skip, title] = needsData("every task");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  /** What a task said of each pair. */
  const saidAlone = new Map<string, readonly Said[][]>();
  beforeAll(async () => (runtime = await createRuntime(settings)));
  afterAll(() => runtime.dispose());

  describe.each(tasks.map((task, index) => ({ ...task, index })))("$name", ({ name, run, index }) => {
    let cat: Promise<Said[]> | undefined;

    it("says of texts in a batch what it says of each alone, within 1e-5", async () => {
      const together = await run(runtime, sentences);
      expect(together).toHaveLength(sentences.length);
      for (const [index, text] of sentences.entries()) {
        const [alone] = await run(runtime, [text]);
        expect(together[index]!.words, text).toEqual(alone!.words);
        for (const [place, number] of alone!.numbers.entries())
          expect(Math.abs(together[index]!.numbers[place]! - number), text).toBeLessThan(1e-5);
      }
    });

    it("says the same, bit for bit, when four calls run side by side", async () => {
      const serial: Said[][] = [];
      for (const part of parts) serial.push(await run(runtime, part));
      expect(await Promise.all(parts.map((part) => run(runtime, part)))).toEqual(serial);
      saidAlone.set(name, serial);
    });

    it("gives nothing for nothing", async () => {
      expect(await run(runtime, [])).toEqual([]);
    });

    // Long texts cost most; every third task has them each time, which is every tokenizer and some task that reads in windows.
    const texts = odd.filter(([, text]) => runsAll || text.length < 1000 || index % 3 === 0);
    it.each(texts)("%s: finite numbers, or an error with a code", async (_name, text) => {
      const said = await run(runtime, [text, "a cat"]).catch((error: unknown) => {
        if (!(error instanceof InferyardError) || !error.code.startsWith("INPUT_")) throw error;
      });
      if (said === undefined) return;
      expect(said).toHaveLength(2);
      expect(said.every(({ numbers }) => numbers.every(Number.isFinite))).toBe(true);
      cat ??= run(runtime, ["a cat"]);
      expect(said[1]!.words).toEqual((await cat)[0]!.words);
    });
  });

  describe("a runtime that shares batches", () => {
    let sharing: Runtime;
    beforeAll(async () => (sharing = await createRuntime({ ...settings, shareBatches: true })));
    afterAll(() => sharing.dispose());

    it("says within 1e-5 what each call is told alone, with calls of every task under way at once", async () => {
      const calls = tasks.flatMap((task) => parts.map((part) => ({ task, part })));
      const together = await Promise.all(calls.map(({ task, part }) => task.run(sharing, part)));
      for (const [index, { task, part }] of calls.entries()) {
        const alone = saidAlone.get(task.name)?.[parts.indexOf(part)] ?? (await task.run(runtime, part));
        expect(together[index]).toHaveLength(part.length);
        for (const [text, said] of alone.entries()) {
          const { words, numbers } = together[index]![text]!;
          expect(words, `${task.name}: ${part[text]}`).toEqual(said.words);
          for (const [place, number] of said.numbers.entries())
            expect(Math.abs(numbers[place]! - number), `${task.name}: ${part[text]}`).toBeLessThan(1e-5);
        }
      }
    });
  });
});
