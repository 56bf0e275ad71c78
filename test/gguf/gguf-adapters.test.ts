/** LoRA adapters of GGUF models on llamacpp, held to the model with the change merged into its weights. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LanguageModelFiles, LoraAdapter } from "inferyard/backend";
import { llamacpp } from "inferyard/backends/llamacpp";
import { createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeTensor } from "../../src/formats/gguf/blocks/index.ts";
import type { GgufValue } from "../../src/formats/gguf/gguf-metadata.ts";
import { type GgufModel, readGgufModel } from "../../src/formats/gguf/models/read-model.ts";
import { ggufParts, type GgufTensorSource } from "../../src/formats/gguf/write-gguf.ts";
import { readManifest } from "../../src/models/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const base = `${sharedData}gguf-tiny-llama/tiny-llama-f32.gguf`;
const folder = mkdtempSync(join(tmpdir(), "inferyard-gguf-adapters-"));
afterAll(() => rmSync(folder, { recursive: true }));
const [skip, title] = needsData("LoRA adapters");

const backend = llamacpp();
afterAll(() => backend.dispose?.());

const rank = 4;
const alpha = 8;
const tokens = [1, 17, 200, 33, 5, 90];
const text = (value: string): GgufValue => ({ type: "string", value, bytes: value.length });

/** Low-rank factors of some matrices of a model. */
type Factors = ReadonlyMap<
  string,
  { readonly a: Float32Array; readonly b: Float32Array; readonly shape: readonly [number, number] }
>;

function factorsFor(model: GgufModel, seed: number): Factors {
  let state = seed;
  const random = (count: number): Float32Array =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return (state / 2 ** 32 - 0.5) / 4;
    });
  const changed = [...model.tensors.values()].filter(({ name }) =>
    /attn_(q|k|v|output)|ffn_(gate|up|down)|^output\.weight/.test(name),
  );
  return new Map(
    changed.map(({ name, shape: [inner = 0, outer = 0] }) => {
      return [name, { a: random(inner * rank), b: random(rank * outer), shape: [inner, outer] }] as const;
    }),
  );
}

function tensor(name: string, shape: readonly number[], data: Float32Array): GgufTensorSource {
  return { name, type: "F32", shape, bytes: data.byteLength, read: () => new Uint8Array(data.buffer) };
}

/** Writes an adapter and returns its path. `fields`: metadata instead of the usual. */
function writtenAdapter(name: string, factors: Factors, fields: Readonly<Record<string, GgufValue>> = {}): string {
  const path = join(folder, name);
  const metadata = new Map<string, GgufValue>([
    ["general.type", text("adapter")],
    ["general.architecture", text("llama")],
    ["adapter.type", text("lora")],
    ["adapter.lora.alpha", { type: "float32", value: alpha }],
    ...Object.entries(fields),
  ]);
  const parts = [...factors].flatMap(
    ([
      of,
      {
        a,
        b,
        shape: [inner, outer],
      },
    ]) => [tensor(`${of}.lora_a`, [inner, a.length / inner], a), tensor(`${of}.lora_b`, [b.length / outer, outer], b)],
  );
  writeFileSync(path, Buffer.concat([...ggufParts(metadata, parts)]));
  return path;
}

/** Writes the model with changes merged into its weights: W + scale alpha / rank B A. */
async function merged(name: string, changes: readonly { readonly factors: Factors; readonly scale: number }[]): Promise<string> {
  const model = await readGgufModel(base, "base.gguf", "everything");
  const bytes = readFileSync(base);
  const tensors = [...model.tensors.values()].map((each) => {
    const data = Float32Array.from(decodeTensor(each.type, bytes.subarray(each.start, each.start + each.bytes), each.elements));
    for (const { factors, scale } of changes) {
      const {
        a,
        b,
        shape: [inner, outer],
      } = factors.get(each.name) ?? { a: [], b: [], shape: [0, 0] };
      for (let row = 0; row < outer; row += 1) {
        for (let column = 0; column < inner; column += 1) {
          let change = 0;
          for (let k = 0; k < rank; k += 1) change += (b[row * rank + k] ?? 0) * (a[k * inner + column] ?? 0);
          data[row * inner + column] = (data[row * inner + column] ?? 0) + ((scale * alpha) / rank) * change;
        }
      }
    }
    return tensor(each.name, each.shape, data);
  });
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat([...ggufParts(model.metadata, tensors)]));
  return path;
}

async function logitsOf(path: string, adapters?: readonly LoraAdapter[]): Promise<Float32Array> {
  const { variants } = await readManifest(path);
  const options = { threads: 1, ...(adapters === undefined ? {} : { adapters }) };
  const model = await backend.loadLanguage?.(variants[0] as LanguageModelFiles, { type: "cpu", index: 0 }, options);
  if (model === undefined) throw new Error("no language models");
  try {
    const sequence = await model.createSequence();
    const [logits = new Float32Array()] = await model.decode([{ sequence, tokens, logits: tokens.length }]);
    return logits;
  } finally {
    await model.dispose();
  }
}

function difference(actual: Float32Array, expected: Float32Array): number {
  expect(actual).toHaveLength(expected.length);
  return Math.max(...expected.map((value, index) => Math.abs(value - (actual[index] ?? Number.NaN))));
}

describe.skipIf(skip)(title, () => {
  let [first, second]: Factors[] = [];
  let model: GgufModel;
  beforeAll(async () => {
    model = await readGgufModel(base, "base.gguf", "everything");
    [first, second] = [factorsFor(model, 1), factorsFor(model, 2)];
  });

  it("the logits are those of the merged model, scaled and added up", async () => {
    const factors = [first, second] as [Factors, Factors];
    const [one, two] = [writtenAdapter("one.gguf", factors[0]), writtenAdapter("two.gguf", factors[1])];
    const plain = await logitsOf(base);
    const cases = [
      { adapters: [{ path: one }], scales: [1, 0] },
      { adapters: [{ path: one, scale: -0.5 }], scales: [-0.5, 0] },
      {
        adapters: [
          { path: one, scale: 0.5 },
          { path: two, scale: 2 },
        ],
        scales: [0.5, 2],
      },
    ];
    for (const [index, { adapters, scales }] of cases.entries()) {
      const changes = factors.map((each, at) => ({ factors: each, scale: scales[at] ?? 0 }));
      const expected = await logitsOf(await merged(`merged-${index}.gguf`, changes));
      expect(difference(await logitsOf(base, adapters), expected)).toBeLessThan(1e-3);
      expect(difference(plain, expected)).toBeGreaterThan(0.1);
    }
  });

  it("models with different adapters are different loaded models", async () => {
    const path = writtenAdapter("identity.gguf", first as Factors);
    const runtime = await createRuntime({ threads: 1, host: "inline" });
    try {
      const options = { kind: "language", target: "llamacpp" } as const;
      const handles = await Promise.all(
        [undefined, [{ path }], [{ path, scale: 0.5 }], [{ path }]].map((adapters) =>
          runtime.load(base, { ...options, ...(adapters === undefined ? {} : { adapters }) }),
        ),
      );
      expect(runtime.memory().models).toHaveLength(3);
      expect(JSON.stringify(handles[2]?.decision)).toMatch(/adapter identity.gguf: changes 15 tensors, times 0.5/);
      const refused = runtime.load(base, { kind: "language", target: "native", adapters: [{ path }] });
      await expect(refused).rejects.toThrow(/native has no setting "adapters", and you set it/);
      for (const handle of handles) await handle.dispose();
    } finally {
      await runtime.dispose();
    }
  });

  it("files that are no adapters of the model are refused before llama.cpp sees them", async () => {
    const factors = first as Factors;
    const name = "blk.0.attn_q.weight";
    const own = factors.get(name);
    if (own === undefined) throw new Error("no factors");
    const wide = { ...own, a: new Float32Array(32 * rank), shape: [32, own.shape[1]] as const };
    const cases = [
      { path: base, message: /is no LoRA adapter: general.type is/ },
      { path: writtenAdapter("ia3.gguf", factors, { "adapter.type": text("ia3") }), message: /adapter.type is "ia3"/ },
      { path: writtenAdapter("other.gguf", factors, { "general.architecture": text("qwen2") }), message: /architecture "qwen2"/ },
      {
        path: writtenAdapter("absent.gguf", new Map([["blk.9.attn_q.weight", own]])),
        message: /blk.9.attn_q.weight, which the model does not have/,
      },
      { path: writtenAdapter("wide.gguf", new Map([[name, wide]])), message: /do not fit the tensor blk.0.attn_q.weight/ },
      { path: writtenAdapter("empty.gguf", new Map()), message: /has no tensors/ },
      {
        path: writtenAdapter("alora.gguf", factors, {
          "adapter.alora.invocation_tokens": { type: "array", of: "uint32", length: 1, items: [1] },
        }),
        message: /aLoRA/,
      },
      { path: join(folder, "missing.gguf"), message: /missing.gguf/ },
    ];
    for (const { path, message } of cases) {
      await expect(logitsOf(base, [{ path }])).rejects.toMatchObject({
        code: expect.stringMatching(/^MODEL_/) as string,
        message,
      });
    }
    const damaged = join(folder, "damaged.gguf");
    writeFileSync(damaged, readFileSync(writtenAdapter("whole.gguf", factors)).subarray(0, 2000));
    await expect(logitsOf(base, [{ path: damaged }])).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });
});
