/** Decoders of the shared data, against the answers of PyTorch, against onnxruntime with exact pasts, and against themselves. */
import { InferenceSession, Tensor } from "onnxruntime-node";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { InferyardError } from "../../../contract/errors.ts";
import {
  decoderGoldens,
  decoderPath,
  decoders,
  DecoderSession,
  type LoadedDecoder,
  loadDecoder,
} from "../../../../test/engine/fixtures/decoders.ts";
import { spawnFromSource } from "../../../../test/engine/fixtures/source-thread.ts";
import { needsData, sharedData, worst } from "../../../../test/fixtures/shared-data.ts";
import { amount, runsAll } from "../../../../test/fixtures/slow.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import type { Literal } from "../../ir/literal.ts";
import { Executable } from "../executable.ts";
import type { OnnxAttribute, OnnxModel, OnnxNode } from "../../onnx/onnx-model.ts";

const [skip, name] = needsData("decoding with a cache");
const tolerance = 1e-4; // as the models' README has it

/** Loaded once for all tests that look at no state of the engine, since to load one costs as much as most tests. */
const shared = new Map<string, LoadedDecoder>();
const loaded: LoadedDecoder[] = [];
afterEach(async () => {
  await Promise.all(loaded.splice(0).map(({ engine }) => engine.dispose()));
});
afterAll(async () => {
  await Promise.all([...shared.values()].map(({ engine }) => engine.dispose()));
});

function share(path: string): LoadedDecoder {
  const decoder = shared.get(path) ?? loadDecoder(path);
  shared.set(path, decoder);
  return decoder;
}

/** One of the test's own. */
function load(...args: Parameters<typeof loadDecoder>): LoadedDecoder {
  const decoder = loadDecoder(...args);
  loaded.push(decoder);
  return decoder;
}

async function start(model: string, capacity = 128): Promise<DecoderSession> {
  return await DecoderSession.start(share(decoderPath(model)), { capacity });
}

function likeliest(logits: Float32Array): number {
  return logits.indexOf(logits.reduce((max, each) => Math.max(max, each)));
}

/** Tokens that mean nothing, the same each time. */
function tokens(count: number, seed = 1): number[] {
  return Array.from({ length: count }, (_, index) => 3 + ((index * 37 + seed * 101) % 390));
}

/** onnxruntime with the past as long as it is. */
class Exact {
  readonly #session: InferenceSession;
  readonly #past: readonly TensorInfo[];
  readonly #isWide: boolean;
  #cache: Record<string, Tensor> = {};
  #length = 0;

  constructor(session: InferenceSession, inputs: readonly TensorInfo[]) {
    this.#session = session;
    this.#isWide = inputs.some(({ dataType }) => dataType === "int64");
    this.#past = inputs.filter((input) => input.name.startsWith("past"));
    for (const { name: past, shape } of this.#past) {
      const empty = shape.map((size) => (typeof size === "number" ? size : size === "batch_size" ? 1 : 0));
      this.#cache[past] = new Tensor("float32", new Float32Array(), empty);
    }
  }

  async append(given: readonly number[]): Promise<Float32Array> {
    const whole = (values: readonly number[]): Tensor =>
      this.#isWide
        ? new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length])
        : new Tensor("int32", Int32Array.from(values), [1, values.length]);
    const results = await this.#session.run({
      input_ids: whole(given),
      attention_mask: whole(Array.from({ length: this.#length + given.length }, () => 1)),
      position_ids: whole(given.map((_, index) => this.#length + index)),
      ...this.#cache,
    });
    this.#length += given.length;
    this.#cache = Object.fromEntries(
      this.#past.map(({ name: past }) => [past, results[past.replace(/^past(_key_values)?/, "present")] as Tensor]),
    );
    const { data, dims } = results["logits"] as Tensor;
    return (data as Float32Array).slice(-(dims[2] ?? 0));
  }
}

/** Model, tokens of the prompt, capacity. */
const aroundPowersOfTwo = [
  ["tiny-random-gpt2", 32, 60],
  ["tiny-random-gpt2", 33, 60],
  ["tiny-random-llama", 31, 90],
  ["tiny-random-qwen2", 63, 90],
  ["tiny-random-qwen2", 65, 90],
] as const;

describe.skipIf(skip)(name, () => {
  it.each(decoders)("%s: greedy decoding gives the tokens and logits of PyTorch", async (model) => {
    const session = await start(model);
    for (const { ids, generated, prompt, last } of decoderGoldens(model)) {
      await session.truncate(0);
      let logits = await session.prefill(ids);
      expect(worst(logits, prompt)).toBeLessThan(tolerance);
      const given = [likeliest(logits)];
      while (given.length < generated.length) {
        logits = await session.next(given.at(-1) ?? 0);
        given.push(likeliest(logits));
      }
      expect(given).toEqual(generated);
      expect(worst(logits, last)).toBeLessThan(tolerance);
      expect(session.length).toBe(ids.length + generated.length - 1);
    }
  });

  it.each([
    ["tiny-random-gpt2", 31, 60],
    ["tiny-random-llama", 32, 90],
    ["tiny-random-llama", 33, 90],
    ["tiny-random-qwen2", 64, 90],
    ["tiny-random-gemma", 49, 90],
    ...(runsAll ? aroundPowersOfTwo : []),
  ] as const)(
    "%s: a prompt of %i tokens and what follows give what onnxruntime gives with an exact past",
    async (model, count, capacity) => {
      const { engine, inputs } = share(decoderPath(model));
      const session = await DecoderSession.start({ engine, inputs }, { capacity });
      const exact = new Exact(await InferenceSession.create(decoderPath(model)), inputs);
      const prompt = tokens(count);
      expect(worst(await session.prefill(prompt), await exact.append(prompt))).toBeLessThan(tolerance);
      for (const token of tokens(6, 2))
        expect(worst(await session.next(token), await exact.append([token]))).toBeLessThan(tolerance);
      const more = tokens(capacity - session.length, 3); // up to its capacity, which is no power of two
      expect(worst(await session.prefill(more), await exact.append(more))).toBeLessThan(tolerance);
      expect(session.length).toBe(capacity);
      await expect(session.next(5)).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
      expect(session.length).toBe(capacity);
    },
  );

  it.each(decoders)("%s reads a prompt in chunks, and a few tokens whose logits are wanted in one run", async (model) => {
    const { engine, inputs } = load(decoderPath(model));
    const sequences = await engine.sequences(inputs);
    const runs = vi.spyOn(Executable.prototype, "run");
    const runsOf = async (count: number, logits: number): Promise<number> => {
      for (const _warmUp of [1, 2]) {
        runs.mockClear(); // the first time executables are verified, by further runs
        await sequences.decode([{ sequence: await sequences.create(), tokens: tokens(count), logits }], undefined);
      }
      return runs.mock.calls.length;
    };
    expect([await runsOf(40, 1), await runsOf(5, 5), await runsOf(8, 3), await runsOf(1, 1)]).toEqual([3, 1, 1, 1]);
    runs.mockRestore();
  });

  it.each(
    [...decoders.map(decoderPath), `${sharedData}gpt2-tiny-random/past.onnx`].map(
      (path) => [path, runsAll || path.includes("llama") ? 16 : 6] as const,
    ),
  )("%s: each of %i sequences gets the bits that it gets alone", async (path, most) => {
    const { engine, inputs } = share(path);
    const sequences = await engine.sequences(inputs);
    const step = (sequence: number, given: readonly number[]) => ({ sequence, tokens: given, logits: 1 });
    const growth = path.includes("tiny-random-gpt2") ? 2 : 3; // its positions end at 64; the others get caches of two capacities
    const prompts = Array.from({ length: 16 }, (_, index) => tokens(20 + growth * index, index)).filter(
      (_, index) => most === 16 || index < 3 || index > 12, // several of each capacity
    );
    const follow = async (ids: readonly number[], each: readonly (readonly number[])[]): Promise<Float32Array[]> => {
      const all: Float32Array[] = [];
      let logits = await sequences.decode(
        ids.map((id, index) => step(id, each[index]!)),
        undefined,
      );
      for (let round = 0; round < 8; round += 1) {
        all.push(...logits);
        logits = await sequences.decode(
          ids.map((id, index) => step(id, [likeliest(logits[index]!)])),
          undefined,
        );
      }
      return [...all, ...logits];
    };
    const alone: Float32Array[][] = [];
    for (const prompt of prompts) alone.push(await follow([await sequences.create()], [prompt]));
    const { all: stepsAlone } = engine.lastStepCounts!;
    for (const count of [2, 3, most]) {
      const ids = await Promise.all(prompts.slice(0, count).map(() => sequences.create()));
      const together = await follow(ids, prompts.slice(0, count));
      for (let index = 0; index < count; index += 1)
        expect(
          together.filter((_, at) => at % count === index),
          `${index} of ${count}`,
        ).toEqual(alone[index]);
      expect(engine.lastStepCounts?.all, "steps of the attention of each sequence").toBeGreaterThan(stepsAlone);
    }
  });

  it("computes sequences in one run each where a batch would change their logits", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), withSmallestToken);
    const sequences = await engine.sequences(inputs);
    const [one, other, alone] = [await sequences.create(), await sequences.create(), await sequences.create()];
    const steps = [
      { sequence: one, tokens: [300], logits: 1 },
      { sequence: other, tokens: [20], logits: 1 },
    ];
    const [together] = await sequences.decode(steps, undefined);
    expect([together]).toEqual(await sequences.decode([{ sequence: alone, tokens: [300], logits: 1 }], undefined));
  });

  it("decodes an export that keeps keys and values in one tensor", async () => {
    const path = `${sharedData}gpt2-tiny-random/past.onnx`;
    const { engine, inputs } = share(path);
    const session = await DecoderSession.start({ engine, inputs }, { capacity: 70 });
    const exact = new Exact(await InferenceSession.create(path), inputs);
    for (const given of [tokens(31), [5], tokens(20, 2), [6], [7]])
      expect(worst(await session.prefill(given), await exact.append(given))).toBeLessThan(1e-6);
  });

  it("forgets what was cut off, to the last bit", async () => {
    const session = await start("tiny-random-llama");
    await session.prefill(tokens(20));
    const wanted = [await session.next(7), await session.next(8)];
    await session.prefill(tokens(40, 2));
    await session.truncate(20);
    expect([await session.next(7), await session.next(8)]).toEqual(wanted);
    await expect(session.truncate(23)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(session.truncate(-1)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("forgets even what is no number, which no mask could hide", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), withNoNumber);
    const session = await DecoderSession.start({ engine, inputs });
    await session.prefill(tokens(10));
    const wanted = await session.next(7);
    await session.truncate(10);
    expect((await session.next(399)).every(Number.isNaN)).toBe(true);
    await session.truncate(10);
    expect(await session.next(7)).toEqual(wanted);
    await session.truncate(10);
    expect((await session.prefill([5, 6, 399])).every(Number.isNaN)).toBe(true); // with padding, which repeats it
    await session.truncate(10);
    expect(await session.next(7)).toEqual(wanted);
  });

  it("computes sessions side by side, and whole runs between them, as each alone", async () => {
    const { engine, inputs } = share(decoderPath("tiny-random-gpt2"));
    const alone = await DecoderSession.start({ engine, inputs });
    const wanted = [];
    for (const seed of [1, 2, 3]) {
      await alone.truncate(0);
      wanted.push(await alone.prefill(tokens(30, seed)), await alone.prefill(tokens(5, seed + 1)));
    }
    const sessions = await Promise.all([1, 2, 3].map(() => DecoderSession.start({ engine, inputs }, { capacity: 64 })));
    const past = inputs.filter((input) => input.name.startsWith("past"));
    const ones = { dataType: "int64", shape: [1, 2], data: BigInt64Array.of(1n, 1n) } as const;
    const whole = async () =>
      await engine.run({
        input_ids: ones,
        position_ids: ones,
        attention_mask: ones,
        ...Object.fromEntries(
          past.map((each) => [each.name, { dataType: "float32", shape: [1, 4, 0, 8], data: new Float32Array() }]),
        ),
      });
    const given = await Promise.all(
      sessions.map(async (session, index) => {
        const first = session.prefill(tokens(30, index + 1), { signal: new AbortController().signal });
        const second = session.prefill(tokens(5, index + 2), { signal: new AbortController().signal });
        await whole();
        return [await first, await second];
      }),
    );
    expect(given.flat()).toEqual(wanted);
  });

  it("is as it was before when a call is aborted in the middle", async () => {
    const session = await start("tiny-random-llama", 120);
    await session.prefill(tokens(10));
    const wanted = await session.next(9);
    await session.truncate(10);
    const controller = new AbortController();
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns === 3) controller.abort(new Error("a reason of its own"));
      else setImmediate(count);
    };
    setImmediate(count);
    await expect(session.prefill(tokens(110), { signal: controller.signal })).rejects.toMatchObject({ code: "ABORTED" });
    expect(turns).toBe(3);
    expect(session.length).toBe(10);
    expect(await session.next(9)).toEqual(wanted);
  });

  it("is as it was before when a token is none of the model's", async () => {
    const session = await start("tiny-random-gpt2");
    await session.prefill(tokens(10));
    await expect(session.prefill([1, 2, 400_000])).rejects.toMatchObject({ code: "INPUT_INVALID" });
    expect(session.length).toBe(10);
  });

  it("gives back most of its memory when it is cut to a small part, and goes on with the same bits", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-llama"));
    const begin = (): Promise<DecoderSession> => DecoderSession.start({ engine, inputs }, { capacity: 300 });
    const cutAfter = async (length: number): Promise<DecoderSession> => {
      const session = await begin();
      await session.prefill(tokens(length));
      await session.truncate(20);
      return session;
    };
    const kept = [await cutAfter(250)];
    const { bytes } = engine;
    for (let index = 0; index < 6; index += 1) kept.push(await cutAfter(250));
    const cacheBytes = 384 * kept[0]!.sequences.bytesPerToken; // of 250 tokens
    expect(engine.bytes - bytes).toBeLessThan(2 * cacheBytes);
    const whole = await begin();
    await whole.prefill(tokens(20));
    const cut = kept[0]!;
    expect([await cut.next(7), await cut.next(8)]).toEqual([await whole.next(7), await whole.next(8)]);
    for (const session of [...kept, whole]) await session.dispose();
  });

  it("takes memory once, however many sessions there were", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-llama"));
    const round = async (): Promise<void> => {
      const session = await DecoderSession.start({ engine, inputs }, { capacity: 300 });
      await session.prefill(tokens(250));
      expect(session.sequences.bytesPerToken).toBe(2 * 2 * 2 * 16 * 4);
      await session.dispose();
    };
    await round();
    const { bytes } = engine;
    for (let index = 0; index < amount(5, 2); index += 1) await round();
    expect(engine.bytes).toBe(bytes);
  });

  it("gives the same bits with two threads", async () => {
    const [one, two] = [
      load(decoderPath("tiny-random-llama")),
      load(decoderPath("tiny-random-llama"), undefined, spawnFromSource),
    ];
    const results = [];
    for (const { engine, inputs } of [one, two]) {
      const session = await DecoderSession.start({ engine, inputs });
      results.push([await session.prefill(tokens(150)), await session.next(5), await session.next(6)]);
    }
    expect(results[1]).toEqual(results[0]);
  });

  it("refuses what was disposed", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"));
    const [session, other] = [await DecoderSession.start({ engine, inputs }), await DecoderSession.start({ engine, inputs })];
    await session.dispose();
    await expect(session.next(1)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await engine.dispose();
    await expect(other.next(1)).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("refuses a model that counts its past instead of taking positions", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), countingPast);
    expect(inputs.map((input) => input.name)).not.toContain("position_ids");
    await expect(DecoderSession.start({ engine, inputs })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("derived positions from the length of the past"),
    });
  });

  it("decodes a model that finds positions in the mask", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), countingMask);
    const session = await DecoderSession.start({ engine, inputs });
    const [{ ids, prompt }] = decoderGoldens("tiny-random-gpt2") as [ReturnType<typeof decoderGoldens>[number]];
    expect(worst(await session.prefill(ids), prompt)).toBeLessThan(tolerance);
  });

  it("decodes what was merged of an export with a past and one without", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), mergedWithPastless);
    const session = await DecoderSession.start({ engine, inputs });
    const [golden] = decoderGoldens("tiny-random-gpt2");
    expect(worst(await session.prefill(golden!.ids), golden!.prompt)).toBeLessThan(tolerance);
    for (const token of golden!.generated.slice(0, 3)) await session.next(token);
  });

  it("refuses a decoder that looks at an encoder, merged or not", async () => {
    const { engine, inputs } = load(`${sharedData}tiny-random-t5/onnx/decoder_model_merged.onnx`);
    await expect(DecoderSession.start({ engine, inputs })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("attention_mask"),
    });
  });

  it("gives tokens in one by one where several at once would change each other's logits", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"), withSmallestToken);
    const [session, stepwise] = [await DecoderSession.start({ engine, inputs }), await DecoderSession.start({ engine, inputs })];
    const given = await session.prefill([300, 20, 100, 250]);
    for (const token of [300, 20, 100]) await stepwise.next(token);
    expect(given).toEqual(await stepwise.next(250));
  });

  it("takes an export of one sequence, and refuses one of several", async () => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"));
    const batches = (batch: number): TensorInfo[] => inputs.map((input) => ({ ...input, shape: input.shape.with(0, batch) }));
    await expect(DecoderSession.start({ engine, inputs: batches(2) })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    const [golden] = decoderGoldens("tiny-random-gpt2");
    const session = await DecoderSession.start({ engine, inputs: batches(1) });
    expect(worst(await session.prefill(golden!.ids), golden!.prompt)).toBeLessThan(tolerance);
  });

  it("holds what its capacity says, down to one token", async () => {
    const { engine, inputs } = share(decoderPath("tiny-random-gpt2"));
    const larger = await DecoderSession.start({ engine, inputs });
    const wanted = [await larger.next(5), await larger.next(6)];
    for (const capacity of [1, 2, 3]) {
      const session = await DecoderSession.start({ engine, inputs }, { capacity });
      for (const [index, token] of [5, 6].slice(0, capacity).entries())
        expect(worst(await session.next(token), wanted[index]!)).toBeLessThan(tolerance);
      const next = await session.next(7).then(
        () => "computed",
        (error: unknown) => (error as InferyardError).code,
      );
      expect(next).toBe(capacity < 3 ? "INPUT_TOO_LONG" : "computed");
    }
  });

  it.each([
    ["without a mask", "attention_mask"],
    ["without tokens", "input_ids"],
  ])("refuses a model %s", async (_, missing) => {
    const { engine, inputs } = load(decoderPath("tiny-random-gpt2"));
    const others = inputs.filter((input) => input.name !== missing);
    await expect(DecoderSession.start({ engine, inputs: others })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });
});

/** As Optimum merges decoders: a branch on `use_cache_branch`. The other one gives nothing that could be taken for logits. */
function mergedWithPastless(model: OnnxModel): OnnxModel {
  const { graph } = model;
  const branch = (nodes: readonly OnnxNode[]): OnnxAttribute => ({
    kind: "graph",
    value: { ...graph, nodes, initializers: new Map(), inputs: [] },
  });
  const none = graph.outputs.map((output) => node("Identity", ["input_ids"], output.name));
  const attributes = new Map([
    ["then_branch", branch(graph.nodes)],
    ["else_branch", branch(none)],
  ]);
  const merged = { ...node("If", ["use_cache_branch"], "", attributes), outputs: graph.outputs.map((output) => output.name) };
  const choice = { name: "use_cache_branch", type: { kind: "tensor", dataType: "bool", shape: [1] } } as const;
  return { ...model, graph: { ...graph, nodes: [merged], inputs: [...graph.inputs, choice] } };
}

/** Of nodes before the model's own, which give its `position_ids`. */
function withPositions(model: OnnxModel, nodes: readonly OnnxNode[]): OnnxModel {
  const inputs = model.graph.inputs.filter((input) => input.name !== "position_ids");
  return { ...model, graph: { ...model.graph, inputs, nodes: [...nodes, ...model.graph.nodes] } };
}

function node(
  operator: string,
  inputs: readonly string[],
  output: string,
  attributes: OnnxNode["attributes"] = new Map(),
): OnnxNode {
  return { name: "", domain: "", operator, inputs, outputs: [output], attributes };
}

function constant(output: string, value: bigint, shape: readonly number[]): OnnxNode {
  const tensor = { dataType: "int64", shape, data: BigInt64Array.of(value) } as const;
  return node("Constant", [], output, new Map([["value", { kind: "tensor", value: tensor }]]));
}

/** positions = [past, past + 1, ...] as the lengths of mask and tokens say. */
function countingPast(model: OnnxModel): OnnxModel {
  return withPositions(model, [
    constant("one_", 1n, []),
    constant("axis_", 0n, [1]),
    node("Shape", ["attention_mask"], "whole_"),
    node("Shape", ["input_ids"], "fresh_"),
    node("Gather", ["whole_", "one_"], "end_"),
    node("Gather", ["fresh_", "one_"], "count_"),
    node("Sub", ["end_", "count_"], "start_"),
    node("Range", ["start_", "end_", "one_"], "row_"),
    node("Unsqueeze", ["row_", "axis_"], "position_ids"),
  ]);
}

/** Token 399 is no number. */
function withNoNumber(model: OnnxModel): OnnxModel {
  const initializers = [...model.graph.initializers].map(([name, literal]): [string, Literal] => {
    if (literal.shape.join() !== "400,32") return [name, literal];
    const data = Float32Array.from(literal.data as Float32Array, (value, index) => (index >= 399 * 32 ? Number.NaN : value));
    return [name, { dataType: literal.dataType, shape: literal.shape, data }];
  });
  return { ...model, graph: { ...model.graph, initializers: new Map(initializers) } };
}

/** To all logits the smallest of the new tokens is added. */
function withSmallestToken(model: OnnxModel): OnnxModel {
  const { graph } = model;
  const nodes = graph.nodes.map((each) => ({
    ...each,
    outputs: each.outputs.map((output) => (output === "logits" ? "plain_" : output)),
  }));
  const added = [
    node("Cast", ["input_ids"], "tokens_", new Map([["to", { kind: "int", value: 1 }]])),
    node("ReduceMin", ["tokens_"], "least_", new Map([["keepdims", { kind: "int", value: 0 }]])),
    node("Add", ["plain_", "least_"], "logits"),
  ];
  return { ...model, graph: { ...graph, nodes: [...nodes, ...added] } };
}

/** positions = cumsum(mask) - 1, of the new tokens. */
function countingMask(model: OnnxModel): OnnxModel {
  return withPositions(model, [
    constant("one_", 1n, []),
    constant("ones_", 1n, [1]),
    node("Shape", ["attention_mask"], "whole_"),
    node("Shape", ["input_ids"], "fresh_"),
    node("Gather", ["whole_", "ones_"], "end_"),
    node("Gather", ["fresh_", "ones_"], "count_"),
    node("Sub", ["end_", "count_"], "start_"),
    node("CumSum", ["attention_mask", "one_"], "sums_"),
    node("Sub", ["sums_", "one_"], "all_"),
    node("Slice", ["all_", "start_", "end_", "ones_"], "position_ids"),
  ]);
}
