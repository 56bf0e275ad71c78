/**
 * Every option of every task has an effect: the library answers otherwise with it than without it. Each model is loaded once. That the flags of the command
 * line and the fields of requests become these options, test/cli/every-flag.test.ts and test/cli/option-kinds.long.test.ts see.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chunkOptions } from "../../src/tasks/chunking/chunk-options.ts";
import { classifyOptions } from "../../src/tasks/classification/classify-options.ts";
import { embedOptions } from "../../src/tasks/embedding/embed-options.ts";
import { extractOptions } from "../../src/tasks/extraction/extract-options.ts";
import { fillMaskOptions } from "../../src/tasks/fill-mask/fill-mask-options.ts";
import { chatOptions } from "../../src/tasks/generation/chat/chat-options.ts";
import { generateOptions } from "../../src/tasks/generation/generate-options.ts";
import { rewriteOptions } from "../../src/tasks/generation/rewrite/rewrite-options.ts";
import { answerOptions } from "../../src/tasks/question-answering/answer-options.ts";
import { rerankOptions } from "../../src/tasks/reranking/rerank-options.ts";
import { similarityOptions } from "../../src/tasks/similarity/similarity-options.ts";
import { embedSparseOptions } from "../../src/tasks/sparse-embedding/embed-sparse-options.ts";
import { recognizeOptions } from "../../src/tasks/token-classification/recognize-options.ts";
import { writeTableModel } from "../fixtures/models/answering-model.ts";
import { writeFillInModel } from "../fixtures/models/chat-models.ts";
import { writePooledBert } from "../fixtures/models/pooled-bert.ts";
import { writeSpanModel } from "../fixtures/models/span-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const folder = mkdtempSync(join(tmpdir(), "inferyard-every-option-"));
const at = (name: string): string => `${sharedData}${name}`;
/** tiny-random-bert with mean pooling and a prompt. */
const bert = join(folder, "bert");
/** A model with tokens for filling in the middle. */
const filling = join(folder, "filling");
const answering = join(folder, "answering");
/** A GLiNER model, which takes labels. */
const spans = join(folder, "spans");
/** tiny-random-qwen2 with a template that knows `enable_thinking`. */
const thinking = join(folder, "thinking");
/** tiny-random-t5 with a task in its config.json. */
const summarizer = join(folder, "summarizer");
const pair = at("tiny-random-cross-encoder");
const nli = at("tiny-bert-nli-untrained");
const ner = at("minilm-l3-ner");
const splade = at("tiny-random-splade");
const gpt2 = at("tiny-random-gpt2");
const qwen = at("tiny-random-qwen2");
const llama = at("tiny-random-llama");
const t5 = at("tiny-random-t5");

const long = "one two three four five six seven eight nine ten ".repeat(8);
const markdown = "# A cat\n\nA kitten sits. It sleeps.\n\n# The stock\n\nIt falls. It rises.\n".repeat(3);
const parisText = "Yesterday Maria Schmidt left Paris, and went to London-Paris.";
const cityTexts = ["Angela Merkel lives in Berlin near Hamburg.", "Nothing here."];
const three = ["one", "one two three", "one two three four five"];

type Values = Readonly<Record<string, unknown>>;

/** An option: its value, and the call that it is added to, where not that of the task. */
interface OptionRow {
  readonly value: unknown;
  readonly input?: readonly unknown[];
  /** Options of both calls. */
  readonly beside?: Values;
  /** The code of the error that the call ends with. Default: it succeeds both times. */
  readonly code?: string;
}

interface TaskRows {
  readonly table: object;
  readonly input: readonly unknown[];
  readonly beside: Values;
  readonly options: Readonly<Record<string, OptionRow>>;
}

const row = (value: unknown, beside?: Values, input?: readonly unknown[]): OptionRow => ({
  value,
  ...(beside === undefined ? {} : { beside }),
  ...(input === undefined ? {} : { input }),
});
const tooLong = (input: readonly unknown[], beside: Values = { maxTokens: 8 }): OptionRow => ({
  value: "error",
  input,
  beside,
  code: "INPUT_TOO_LONG",
});
/** Fewer tokens in a batch: the model is run more often. `input`: three texts. */
const inBatches = (input: readonly unknown[]): OptionRow => row(1, {}, input);

/** A text and its model. */
interface Prompt {
  readonly input: unknown;
  readonly model: string;
}

/** Texts that show the effect of an option. */
interface Prompts {
  /** One that goes on. */
  readonly text: Prompt;
  /** One that comes to an end token. */
  readonly ending: Prompt;
  /** One where beams differ in length. */
  readonly lengths: Prompt;
  /** One where a beam that goes on overtakes those that ended. */
  readonly overtaking: Prompt & { readonly numBeams: number; readonly stopTokens: readonly number[] };
  /** A part of what `text` goes on with. */
  readonly part: string;
}

/** Options of how text is generated. */
function generating({ text, ending, lengths, overtaking, part }: Prompts): Readonly<Record<string, OptionRow>> {
  const on = ({ input, model }: Prompt, beside: Values): Omit<OptionRow, "value"> => ({
    input: [input],
    beside: { model, ...beside },
  });
  const short = on(text, { maxNewTokens: 8 });
  const longer = on(text, { maxNewTokens: 20 });
  const ended = on(ending, { maxNewTokens: 20 });
  const drawn = on(text, { maxNewTokens: 8, seed: 1 });
  const hot = on(text, { maxNewTokens: 8, seed: 1, temperature: 9 });
  const beams = on(lengths, { maxNewTokens: 12, numBeams: 3 });
  /** The first token that is generated without the option. */
  const first = (without: Outcome): number => without.results![0]!.tokens[0]!;
  return {
    maxNewTokens: { ...short, value: 3 },
    minNewTokens: { ...ended, value: 18 },
    ignoreEndTokens: { ...ended, value: true },
    doSample: { ...hot, value: false },
    temperature: { ...drawn, value: 9 },
    topK: { ...hot, value: 2 },
    topP: { ...hot, value: 0.1 },
    minP: { ...hot, value: 0.9 },
    typicalP: { ...hot, value: 0.05 },
    seed: { ...hot, value: 2 },
    repetitionPenalty: { ...longer, value: 9 },
    frequencyPenalty: { ...longer, value: 100 },
    presencePenalty: { ...longer, value: 100 },
    noRepeatNgramSize: { ...longer, value: 1 },
    logitBias: { ...short, value: (without: Outcome) => ({ [first(without)]: -100 }) },
    badWords: { ...short, value: [part] },
    suppressTokens: { ...short, value: (without: Outcome) => [first(without)] },
    stop: { ...short, value: [part] },
    stopTokens: { ...short, value: (without: Outcome) => [first(without)] },
    n: { ...hot, value: 2 },
    numBeams: { ...short, value: 3 },
    lengthPenalty: { ...beams, value: -3 },
    earlyStopping: {
      ...on(overtaking, { numBeams: overtaking.numBeams, stopTokens: overtaking.stopTokens, lengthPenalty: 2, maxNewTokens: 12 }),
      value: true,
    },
    logprobs: { ...short, value: 2 },
    promptLogprobs: { ...short, value: 2 },
    promptLookup: { ...longer, value: 8 },
    constraint: { ...short, value: { type: "regex", pattern: "[ab]{3}" } },
    unlistedMembers: {
      ...on(text, { maxNewTokens: 12, constraint: { type: "schema", schema: { properties: {}, type: "object" } } }),
      value: true,
    },
    skipSpecialTokens: { ...ended, value: false, beside: { ...ended.beside, ignoreEndTokens: true } },
  };
}
const drafting = ({ input, model }: Prompt): Readonly<Record<string, OptionRow>> => ({
  draftTokens: { value: 1, input: [input], beside: { model, draftModel: model, maxNewTokens: 20 } },
});
const said = (content: string): readonly object[] => [{ role: "user", content }];

const { skipSpecialTokens: _chatsHaveNone, ...chatting } = generating({
  text: { input: said("Hello world!"), model: qwen },
  ending: { input: said("we"), model: qwen },
  lengths: { input: said("x"), model: qwen },
  overtaking: { input: said("world"), model: qwen, numBeams: 3, stopTokens: [247, 80] },
  part: "L",
});

const {
  unlistedMembers: _rewritersHaveNone,
  promptLogprobs: _theirPromptsAreRead,
  ...rewriting
} = generating({
  text: { input: "world", model: t5 },
  ending: { input: "why?", model: t5 },
  lengths: { input: "2", model: t5 },
  overtaking: { input: "x", model: t5, numBeams: 2, stopTokens: [199, 80] },
  part: "at",
});

/** Options of dense vectors. `input`: one text or more, and what they are compared with. */
const dense = (input: (text: string) => readonly unknown[]): Readonly<Record<string, OptionRow>> => ({
  pooling: row("max"),
  normalize: row(true),
  prompt: row("query"),
  dimensions: row(4),
  maxTokens: row(8, {}, input(long)),
  truncate: tooLong(input(long)),
  stride: row(8, { maxTokens: 16, truncate: "windows" }, input(long)),
});

const tasks: Readonly<Record<string, TaskRows>> = {
  embed: {
    table: embedOptions,
    input: [["a text"]],
    beside: { model: bert },
    options: {
      ...dense((text) => [[text]]),
      batchTokens: inBatches([three]),
      precision: row("int8"),
      ranges: row([new Float32Array(32).fill(-9), new Float32Array(32).fill(9)], { precision: "int8" }),
      outputs: row(["dense"]),
    },
  },
  embedSparse: {
    table: embedSparseOptions,
    input: [["a text"]],
    beside: { model: splade },
    options: {
      topK: row(1),
      threshold: row(100),
      prompt: { value: "query", code: "INPUT_INVALID" }, // the model has none
      maxTokens: row(8, {}, [[long]]),
      truncate: tooLong([[long]]),
      batchTokens: inBatches([three]),
    },
  },
  classify: {
    table: classifyOptions,
    input: [["a text"]],
    beside: { model: nli },
    options: {
      topK: row(1),
      labels: row(["sports", "politics"]),
      hypothesisTemplate: row("{} is what this is", { labels: ["sports", "politics"] }),
      multiLabel: row(true, { labels: ["sports", "politics"] }),
      activation: row("none"),
      maxTokens: row(8, {}, [[long]]),
      truncate: tooLong([[long]]),
      batchTokens: inBatches([three]),
    },
  },
  rerank: {
    table: rerankOptions,
    input: ["what", ["a text", "another text"]],
    beside: { model: pair },
    options: {
      topN: row(1),
      raw: row(true),
      maxTokens: row(8, {}, ["what", [long]]),
      truncate: tooLong(["what", [long]]),
      batchTokens: inBatches(["what", three]),
    },
  },
  recognize: {
    table: recognizeOptions,
    input: [cityTexts],
    beside: { model: ner },
    options: {
      aggregation: row("none"),
      ignoreLabels: row(["LOC"]),
      labels: row(["person"], { model: spans, labels: ["city"] }, [[parisText]]),
      threshold: row(0.999999, { model: spans, labels: ["person", "city", "place"] }, [[parisText]]),
      nested: row(true, { model: spans, labels: ["person", "city", "place"] }, [[parisText]]),
      multiLabel: row(true, { model: spans, labels: ["person", "city", "place"] }, [[parisText]]),
      offsets: row("bytes", {}, [["🍕 Angela Merkel lives in Berlin."]]),
      stride: row(9, { maxTokens: 16 }, [[`${long} Angela Merkel lives in Berlin ${long}`]]),
      maxTokens: row(5, {}, [[`${cityTexts[0]} ${cityTexts[0]}`]]),
      truncate: tooLong([[long]]),
      batchTokens: inBatches([three]),
    },
  },
  fillMask: {
    table: fillMaskOptions,
    input: [["the [MASK] of France"]],
    beside: { model: splade },
    options: {
      topK: row(1),
      targets: row(["time", "girl"]),
      maxTokens: row(8, {}, [[`[MASK] ${long}`]]),
      truncate: tooLong([[`[MASK] ${long}`]]),
      batchTokens: inBatches([three.map((text) => `${text} [MASK]`)]),
    },
  },
  answer: {
    table: answerOptions,
    input: ["Where?", ["🍕 She lives in Madrid.", "Nobody knows."]],
    beside: { model: answering },
    options: {
      topK: row(2),
      maxAnswerTokens: row(1, { topK: 9 }, ["Where?", ["Madrid, Spain"]]),
      noAnswer: row(true),
      alignToWords: row(false, {}, ["Where?", ["Madridism"]]),
      offsets: row("bytes"),
      stride: row(20, { topK: 9 }, ["Where?", [`${long} Madrid ${long}`]]),
      maxTokens: row(20, { topK: 9 }, ["Where?", [`${long} Madrid`]]),
      truncate: tooLong(["Where?", [long]], {}),
      batchTokens: inBatches(["Where?", three]),
    },
  },
  similarity: {
    table: similarityOptions,
    input: [
      ["a cat", "stocks"],
      ["a cat", "stocks"],
    ],
    beside: { model: bert },
    options: {
      ...dense((text) => [[text], ["a cat"]]),
      normalize: row(true, { metric: "dot" }),
      prompt: row("query", {}, [["a cat"], ["stocks"]]),
      otherPrompt: row("query", {}, [["a cat"], ["stocks"]]),
      metric: row("dot"),
      batchTokens: inBatches([three, three]),
    },
  },
  extract: {
    table: extractOptions,
    input: [cityTexts],
    beside: { model: ner, schema: { city: { entity: "LOC" } } },
    options: {
      schema: row({ city: { entity: "PER" } }),
      minScore: row(1),
      aggregation: row("max", { model: ner, schema: { who: { entity: "PER" } } }, [["Wolodymyr Selenskyj met Szczesny."]]),
      offsets: row("bytes", undefined, [["🍕 in Berlin."]]),
      stride: row(9, { model: ner, schema: { who: { entity: "PER" } }, maxTokens: 16 }, [
        [`${long} Angela Merkel lives in Berlin ${long}`],
      ]),
      maxTokens: row(3, undefined, [[cityTexts[0]]]),
      truncate: tooLong([[long]]),
      batchTokens: inBatches([three]),
    },
  },
  chunk: {
    table: chunkOptions,
    input: [[`${long}. ${long}`]],
    beside: { model: bert },
    options: {
      strategy: row("markdown", { targetTokens: 20 }, [[markdown]]),
      targetTokens: row(50),
      overlapTokens: row(10, { targetTokens: 50 }, [[long]]),
      maxChunks: row(2, { targetTokens: 10 }, [[long]]),
      separators: row(["words"], { targetTokens: 10, model: "builtin" }, [["One, two; three. ".repeat(20)]]),
      offsets: row("bytes", {}, [["🍕 is good. ".repeat(5)]]),
      threshold: row(0.99, { strategy: "semantic", model: "builtin" }, [["A cat. A kitten. The stock market. Shares."]]),
      percentile: row(1, { strategy: "semantic", model: "builtin" }, [["A cat. A kitten. The stock market. Shares."]]),
      structure: row("markdown", { targetTokens: 20, strategy: "late" }, [[markdown]]),
      prompt: row("query", { strategy: "late" }, [["A cat. A kitten."]]),
      stride: row(30, { strategy: "late" }, [[`${long}${long}${long}${long}`]]),
    },
  },
  generate: {
    table: generateOptions,
    input: ["Once upon a time"],
    beside: { model: gpt2, maxNewTokens: 4 },
    options: {
      ...generating({
        text: { input: "Once upon a time", model: gpt2 },
        ending: { input: "world", model: gpt2 },
        lengths: { input: "x", model: qwen },
        overtaking: { input: "x", model: gpt2, numBeams: 3, stopTokens: [312, 101] },
        part: "her",
      }),
      ...drafting({ input: "Once upon a time", model: gpt2 }),
      addSpecialTokens: row(false, { model: llama, maxNewTokens: 4 }, ["Hello"]),
      suffix: row(" time", { model: filling, maxNewTokens: 4 }, ["Once upon"]),
    },
  },
  chat: {
    table: chatOptions,
    input: [said("Hello world!")],
    beside: { model: qwen, maxNewTokens: 4 },
    options: {
      ...chatting,
      ...drafting({ input: said("Hello world!"), model: qwen }),
      tools: { value: [{ name: "clock" }], code: "MODEL_UNSUPPORTED" }, // the template writes no tools
      toolChoice: { value: "required", code: "INPUT_INVALID" }, // there are none to choose from
      templateVariables: row({ enable_thinking: false }, { model: thinking, maxNewTokens: 4 }),
    },
  },
  rewrite: {
    table: rewriteOptions,
    input: ["world"],
    beside: { model: t5, maxNewTokens: 6 },
    options: {
      ...rewriting,
      task: row("summarization", { model: summarizer, maxNewTokens: 6 }, ["Hello"]),
      prefix: row("sum: "),
      sourceLanguage: row("b"),
      targetLanguage: row("b"),
    },
  },
};

/** What a call leads to. */
interface Outcome {
  readonly code?: string;
  /** Batches that the model was run on. */
  readonly batches?: number;
  readonly results?: readonly { readonly tokens: readonly number[] }[];
}

const [skip, title] = needsData("every option of every task");
describe.skipIf(skip)(title, () => {
  let runtime: Runtime;
  let batches = 0;
  const known = new Map<string, Promise<Outcome>>();

  beforeAll(async () => {
    writePooledBert(bert);
    writeFillInModel(filling);
    cpSync(qwen, thinking, { recursive: true });
    const template = "{{ messages[-1].content }}{% if enable_thinking is defined and not enable_thinking %}x{% endif %}";
    writeFileSync(join(thinking, "chat_template.jinja"), template);
    cpSync(t5, summarizer, { recursive: true });
    const config = JSON.parse(readFileSync(join(t5, "config.json"), "utf8")) as object;
    const parameters = { summarization: { prefix: "sum: " } };
    writeFileSync(join(summarizer, "config.json"), JSON.stringify({ ...config, task_specific_params: parameters }));
    const groups = [
      ["person", "maria", "schmidt"],
      ["city", "place", "paris", "london"],
    ];
    writeSpanModel(spans, { tokenizerFolder: at("all-MiniLM-L6-v2"), groups, maxWidth: 4, maxWords: 20, maxTokens: 64 });
    const logits = { madrid: 8, spain: 5, "[CLS]": 3 };
    writeTableModel(answering, { tokenizerFolder: at("all-MiniLM-L6-v2"), maxTokens: 32, start: logits, end: logits });
    runtime = await createRuntime({ host: "inline", threads: 1, keepAlive: "10m", replicas: 1, onBatch: () => (batches += 1) });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  async function outcome(verb: string, input: readonly unknown[], options: Values): Promise<Outcome> {
    const call = Reflect.get(runtime, verb) as (...given: readonly unknown[]) => Promise<object>;
    batches = 0;
    try {
      const result = await call.apply(runtime, [...input, options]);
      const kept = JSON.stringify(result, (name, value: unknown) => {
        if (["milliseconds", "timings", "decision", "id", "model", "target"].includes(name)) return undefined;
        return ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value;
      });
      return { ...(JSON.parse(kept) as Outcome), batches };
    } catch (error) {
      return { code: (error as { code?: string }).code ?? String(error) };
    }
  }

  describe.each(Object.entries(tasks))("%s", (verb, { table, input: usual, beside: common, options }) => {
    it("has its options here", () => {
      // Every verb ends when its signal aborts, below; what `stream` gives, the tests of streams see.
      const listed = Object.keys(table).filter((name) => name !== "signal" && name !== "stream");
      expect(Object.keys(options).toSorted()).toEqual(listed.toSorted());
    });

    it.each(Object.entries(options))("%s", async (name, { value, input = usual, beside, code }) => {
      const rest = beside === undefined ? common : { ...("model" in beside ? {} : common), ...beside };
      const key = JSON.stringify([verb, input, rest]);
      const before = known.get(key) ?? outcome(verb, input, rest);
      known.set(key, before);
      const without = await before;
      const given = typeof value === "function" ? (value as (without: Outcome) => unknown)(without) : value;
      const with_ = await outcome(verb, input, { ...rest, [name]: given });
      expect(with_).not.toEqual(without);
      expect([without.code, with_.code]).toEqual([undefined, code]);
    });

    it("signal", async () => {
      expect(await outcome(verb, usual, { ...common, signal: AbortSignal.abort() })).toEqual({ code: "ABORTED" });
    });
  });
});
