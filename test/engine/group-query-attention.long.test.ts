/** Decoders whose attention keeps the cache itself (GroupQueryAttention of com.microsoft), against onnxruntime: the conformance suite with its answers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelFiles } from "inferyard/backend";
import { onnx } from "inferyard/backends/onnx";
import { afterAll, describe, expect, it, vi } from "vitest";
import { native } from "../../src/backends/native/index.ts";
import { Executable } from "../../src/engine/execute/executable.ts";
import { languageCases, type LanguageSample } from "../../src/testing/index.ts";
import { float, integer, message, model, node, tensorOf, value } from "../fixtures/models/onnx-bytes.ts";
import { runsAll } from "../fixtures/slow.ts";

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

const folder = mkdtempSync(join(tmpdir(), "inferyard-grouped-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [float32, int64] = [1, 7];
const [vocabulary, width, heads, keyHeads, size, layers, context] = [50, 64, 4, 2, 16, 2, 96];

/** A decoder of two layers as builders of onnxruntime-genai and transformers.js export it. */
function decoder(options: readonly (readonly Buffer[])[]): Buffer {
  let state = 7;
  const random = (name: string, ...shape: readonly number[]): Buffer => {
    const count = shape.reduce((product, each) => product * each, 1);
    const data = Float32Array.from({ length: count }, () => {
      state = (state * 16_807) % 2_147_483_647;
      return ((state % 129) - 64) / 160;
    });
    return tensorOf(name, "float32", shape, data);
  };
  const angles = (name: string, of: (angle: number) => number): Buffer =>
    tensorOf(
      name,
      "float32",
      [context, size / 2],
      Float32Array.from({ length: context * (size / 2) }, (_, index) =>
        of(Math.floor(index / (size / 2)) * 100 ** (-(index % (size / 2)) / (size / 2))),
      ),
    );
  const int = (name: string, number: number): readonly Buffer[] => [message(1, name), integer(20, 2), integer(3, number)];
  const nodes = [
    node({ operator: "Gather", inputs: ["embedding", "input_ids"], outputs: ["x0"] }),
    node({ operator: "ReduceSum", inputs: ["attention_mask", "one"], outputs: ["count"], attributes: [int("keepdims", 0)] }),
    node({ operator: "Sub", inputs: ["count", "one"], outputs: ["last64"] }),
    node({ operator: "Cast", inputs: ["last64"], outputs: ["last"], attributes: [int("to", 6)] }),
    node({ operator: "Shape", inputs: ["attention_mask"], outputs: ["shape"] }),
    node({ operator: "Gather", inputs: ["shape", "index"], outputs: ["total64"] }),
    node({ operator: "Cast", inputs: ["total64"], outputs: ["total"], attributes: [int("to", 6)] }),
    ...Array.from({ length: layers }, (_, layer) => {
      const past = ["key", "value"].map((part) => `past_key_values.${layer}.${part}`);
      const present = ["key", "value"].map((part) => `present.${layer}.${part}`);
      return [
        ...["q", "k", "v"].map((part) =>
          node({ operator: "MatMul", inputs: [`x${layer}`, `${part}${layer}`], outputs: [`${part}${layer}.out`] }),
        ),
        node({
          operator: "GroupQueryAttention",
          domain: "com.microsoft",
          inputs: [`q${layer}.out`, `k${layer}.out`, `v${layer}.out`, ...past, "last", "total", "cosines", "sines"],
          outputs: [`a${layer}`, ...present],
          attributes: [int("num_heads", heads), int("kv_num_heads", keyHeads), int("do_rotary", 1), ...options],
        }),
        node({ operator: "MatMul", inputs: [`a${layer}`, `o${layer}`], outputs: [`o${layer}.out`] }),
        node({ operator: "Add", inputs: [`x${layer}`, `o${layer}.out`], outputs: [`x${layer + 1}`] }),
      ];
    }).flat(),
    node({ operator: "MatMul", inputs: [`x${layers}`, "output"], outputs: ["logits"] }),
  ];
  const caches = (number: number, prefix: string, length: string): readonly Buffer[] =>
    Array.from({ length: layers }, (_, layer) =>
      ["key", "value"].map((part) =>
        value(number, `${prefix}.${layer}.${part}`, float32, ["batch_size", keyHeads, length, size]),
      ),
    ).flat();
  const integers = (name: string, shape: readonly number[], ...elements: bigint[]): Buffer =>
    tensorOf(name, "int64", shape, BigInt64Array.from(elements));
  return model({
    opsets: { "": 17, "com.microsoft": 1 },
    irVersion: 8,
    graph: [
      ...nodes,
      random("embedding", vocabulary, width),
      integers("one", [1], 1n),
      integers("index", [], 1n),
      ...Array.from({ length: layers }, (_, layer) => [
        random(`q${layer}`, width, heads * size),
        random(`k${layer}`, width, keyHeads * size),
        random(`v${layer}`, width, keyHeads * size),
        random(`o${layer}`, heads * size, width),
      ]).flat(),
      random("output", width, vocabulary),
      angles("cosines", Math.cos),
      angles("sines", Math.sin),
      value(11, "input_ids", int64, ["batch_size", "sequence_length"]),
      value(11, "attention_mask", int64, ["batch_size", "total_sequence_length"]),
      ...caches(11, "past_key_values", "past_sequence_length"),
      value(12, "logits", float32, ["batch_size", "sequence_length", vocabulary]),
      ...caches(12, "present", "total_sequence_length"),
    ],
  });
}

const prompts = [
  [3, 7, 1],
  [49, 2, 2, 8, 30, 31, 12, 5],
  Array.from({ length: 40 }, (_, index) => (index * 7) % vocabulary),
  [9],
];

/** Greedy continuations as onnxruntime computes them. */
async function samplesOf(file: LanguageModelFiles): Promise<readonly LanguageSample[]> {
  const loaded = await onnx().loadLanguage!(file, { type: "cpu", index: 0 }, {});
  const samples: LanguageSample[] = [];
  for (const prompt of prompts) {
    const sequence = await loaded.createSequence();
    const continuation: number[] = [];
    let [logits] = await loaded.decode([{ sequence, tokens: prompt }]);
    const first = logits;
    for (let step = 0; step < 24; step += 1) {
      continuation.push(logits!.indexOf(Math.max(...logits!)));
      [logits] = await loaded.decode([{ sequence, tokens: continuation.slice(-1) }]);
    }
    samples.push({ prompt, continuation, logits: first! });
  }
  await loaded.dispose();
  return samples;
}

const attribute = (name: string, ...content: Buffer[]): readonly Buffer[] => [message(1, name), ...content];
const variants = [
  ["all keys", []],
  [
    "a window and a cap",
    [attribute("local_window_size", integer(20, 2), integer(3, 6)), attribute("softcap", integer(20, 1), float(2, 3))],
  ],
] as const;
const subjects = await Promise.all(
  variants.map(async ([name, options]) => {
    const path = join(folder, `${name}.onnx`);
    writeFileSync(path, decoder(options));
    const file = { path, format: "onnx" as const, bytes: 1, config: { max_position_embeddings: context } };
    return [name, { create: native, device: { type: "cpu", index: 0 }, model: file, samples: await samplesOf(file) }] as const;
  }),
);

describe.each(subjects)("GroupQueryAttention with %s", (variant, subject) => {
  it("gives no repetition of one token, so that positions matter", () => {
    expect(new Set(subject.samples.flatMap(({ continuation }) => continuation)).size).toBeGreaterThan(8);
  });
  it("reads a prompt in filled chunks, and the rest of it token by token", async () => {
    const loaded = await ours.loadLanguage!(subject.model, subject.device, {});
    const runs = vi.spyOn(Executable.prototype, "run");
    for (const _warmUp of [1, 2]) {
      runs.mockClear();
      await loaded.decode([{ sequence: await loaded.createSequence(), tokens: prompts[2]! }]);
    }
    expect(runs).toHaveBeenCalledTimes(2 + 8);
    runs.mockRestore();
    await loaded.dispose();
  });

  // The whole suite with the options of attention; without them what the model computes.
  const isOfSample = (name: string) => runsAll || variant !== "all keys" || /continued/.test(name);
  for (const { name, run } of languageCases(subject).filter((each) => isOfSample(each.name)))
    it(name, async () => expect(await run()).toBeUndefined());
});
