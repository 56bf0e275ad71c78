/** Language models through the runtime: on every host, selected, verified, shared, and lost with their process. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelHandle, type HostName, createRuntime } from "inferyard";
import { afterAll, describe, expect, it } from "vitest";
import { childrenOf } from "../fixtures/processes/child-processes.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

const [skip, title] = needsData("language models");

interface Golden {
  readonly items: readonly {
    readonly input_ids: readonly number[];
    readonly generated_ids: readonly number[];
    readonly decoder_start_token_id?: number;
  }[];
}

function goldens(name: string): Golden["items"] {
  return (JSON.parse(readFileSync(`${sharedData}${name}/goldens.json`, "utf8")) as Golden).items;
}

/** The tokens with the highest logit after the prompt. */
async function greedy({ language }: ModelHandle, prompt: readonly number[], count: number, source?: readonly number[]) {
  const sequence = await language.createSequence(source === undefined ? {} : { source });
  const tokens: number[] = [];
  for (let given = prompt; tokens.length < count; given = tokens.slice(-1)) {
    const [logits] = await language.decode([{ sequence, tokens: given }]);
    tokens.push(logits!.reduce((best, value, index) => (value > logits![best]! ? index : best), 0));
  }
  await language.releaseSequence(sequence);
  return tokens;
}

/** Each host with an engine of its own; every host with every engine under TEST_SLOW=1. */
const places: readonly (readonly [HostName, string])[] = runsAll
  ? (["inline", "worker", "process"] as const).flatMap((host) =>
      ["onnx", "wasm", "native"].map((target) => [host, target] as const),
    )
  : [
      ["inline", "wasm"],
      ["worker", "native"],
      ["process", "onnx"],
    ];

describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "language-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  describe.each(places)("in host %s", (host, target) => {
    it(`decode as transformers does on ${target}, with and without an encoder`, async () => {
      await using runtime = await createRuntime({ host, target, threads: 1 });
      await using llama = await runtime.load(`${sharedData}tiny-random-llama`, { kind: "language" });
      await using bart = await runtime.load(`${sharedData}tiny-random-bart`, { kind: "language" });
      const [llamaItem, bartItem] = [goldens("tiny-random-llama")[0]!, goldens("tiny-random-bart")[0]!];
      expect(await greedy(llama, llamaItem.input_ids, 12)).toEqual(llamaItem.generated_ids);
      expect(await greedy(bart, [bartItem.decoder_start_token_id!], 12, bartItem.input_ids)).toEqual(bartItem.generated_ids);
      expect(llama.language.limits).toMatchObject({ vocabulary: 512, hasEncoder: false });
      expect(llama.decision.selected).toMatchObject({ target: `${target}:cpu`, host });
      expect(llama.decision.selected?.evidence[0]).toBe("probe tokens were decoded, and their logits are finite");
    });
  });

  it("is a model of its own beside the same files on tensors, and each refuses the other's calls", async () => {
    await using runtime = await createRuntime({ target: "onnx", host: "inline", threads: 1 });
    const reference = `${sharedData}tiny-random-llama`;
    await using language = await runtime.load(reference, { kind: "language" });
    await using tensors = await runtime.load(reference);
    await using again = await runtime.load(reference, { kind: "language" });
    expect(await runtime.loaded()).toHaveLength(2);
    expect([language.kind, tensors.kind, again.kind]).toEqual(["language", "tensor", "language"]);
    expect(() => tensors.language).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    await expect(language.run({})).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
    expect(() => language.inputs).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
    await expect(runtime.load(reference, { kind: "chat" as never })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it.each([
    ["tiny-random-bert", "is a model for feature-extraction, and cannot write text: its graph takes no keys and values"],
    ["tiny-random-colbert", "cannot write text"],
    ["minilm-l3-ner", "is a model for token-classification, and cannot write text"],
    ["static-embeddings/test-model-float32", "StaticModel has no head that writes text"],
    ["vision/mnist.onnx", "its graph takes no input_ids"],
    ["tiny-random-vit", "it reads pictures, not text"],
  ])("refuses %s as a language model by its files' facts, and loads nothing", async (model, reason) => {
    const events: string[] = [];
    await using runtime = await createRuntime({ host: "inline", threads: 1, onEvent: ({ type }) => events.push(type) });
    const reference = `${sharedData}${model}`;
    const messages = [{ role: "user", content: "Hello" }] as const;
    const calls = await Promise.allSettled([
      runtime.chat(messages, { model: reference }),
      runtime.generate("Hello", { model: reference }),
      runtime.rewrite("Hello", { model: reference }),
      runtime.load(reference, { kind: "language" }),
      runtime.explain(reference, { kind: "language" }),
    ]);
    const refused = { status: "rejected", reason: { code: "MODEL_UNSUPPORTED", message: expect.stringContaining(reason) } };
    expect(calls).toMatchObject(calls.map(() => refused));
    expect(events).not.toContain("loading");
  });

  it("refuses weights of which only others write text, and says why for each target", async () => {
    await using runtime = await createRuntime({ host: "inline", threads: 1 });
    await expect(
      runtime.load(`${sharedData}tiny-random-llama`, { kind: "language", variant: "fp32", target: "llamacpp" }),
    ).rejects.toThrow(/does not run onnx as a language model/);
  });

  it("joins a decoder and its encoder by the suffix of their weights", async () => {
    const reference = join(folder, "t5");
    mkdirSync(join(reference, "onnx"), { recursive: true });
    for (const file of ["config.json", "tokenizer.json"]) cpSync(`${sharedData}tiny-random-t5/${file}`, join(reference, file));
    for (const suffix of ["", "_fp16"]) {
      for (const file of ["encoder_model", "decoder_model", "decoder_with_past_model"])
        cpSync(`${sharedData}tiny-random-t5/onnx/${file}.onnx`, join(reference, "onnx", `${file}${suffix}.onnx`));
    }
    await using runtime = await createRuntime({ target: "onnx", host: "inline", threads: 1 });
    await using whole = await runtime.load(reference, { kind: "language" });
    await using half = await runtime.load(reference, { kind: "language", variant: "fp16" });
    expect([whole, half].map(({ decision }) => decision.model.variant)).toEqual(["fp32", "fp16"]);
    const [item] = goldens("tiny-random-t5");
    for (const handle of [whole, half]) expect(await greedy(handle, [0], 12, item!.input_ids)).toEqual(item!.generated_ids);
    await expect(runtime.load(reference, { kind: "language", variant: "q4" })).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  it("reads a decoder from safetensors on our own engine", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    await using handle = await runtime.load(`${sharedData}tiny-random-llama`, { kind: "language", variant: "safetensors-fp32" });
    const [item] = goldens("tiny-random-llama");
    expect(await greedy(handle, item!.input_ids, 12)).toEqual(item!.generated_ids);
  });

  it("loses its sequences with its process, and decodes others in the next one", async () => {
    await using runtime = await createRuntime({ host: "process", target: "onnx", threads: 1 });
    const before = childrenOf(process.pid);
    await using handle = await runtime.load(`${sharedData}tiny-random-llama`, { kind: "language" });
    const [item] = goldens("tiny-random-llama");
    const lost = await handle.language.createSequence();
    await handle.language.decode([{ sequence: lost, tokens: [1, 2] }]);
    for (const pid of childrenOf(process.pid)) if (!before.includes(pid)) process.kill(pid, "SIGKILL");
    await expect(handle.language.decode([{ sequence: lost, tokens: [3] }])).rejects.toMatchObject({ code: "HOST_DIED" });
    expect(await greedy(handle, item!.input_ids, 12)).toEqual(item!.generated_ids);
    await expect(handle.language.decode([{ sequence: lost, tokens: [3] }])).rejects.toMatchObject({ code: "HOST_DIED" });
    await handle.language.releaseSequence(lost);
    await expect(handle.language.releaseSequence(lost)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
