/** Models of pictures against outputs of transformers: scripts/goldens/transformers/vision-goldens.py makes them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { worst } from "../../../../test/fixtures/shared-data.ts";
import type { TensorInfo } from "../../../contract/tensor.ts";
import { Builder } from "../../build/builder.ts";
import type { GraphSource } from "../../build/graph-source.ts";
import { isTensor } from "../../build/traced-value.ts";
import { int64Literal, type Literal, toLiteral, toNumbers } from "../../ir/literal.ts";
import { buildEncoderDecoder, buildTransformer } from "../index.ts";

interface Goldens {
  readonly side: number;
  readonly texts: readonly (readonly number[])[];
  readonly masks: readonly (readonly number[])[];
  readonly cases: readonly {
    readonly architecture: string;
    readonly config: Readonly<Record<string, unknown>>;
    readonly shapes: Readonly<Record<string, readonly number[]>>;
    readonly outputs: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: readonly number[] }>>;
  }[];
}

const goldens = JSON.parse(readFileSync(new URL("vision-goldens.json", import.meta.url), "utf8")) as Goldens;
const { side, texts, masks } = goldens;

/** The numbers of the formula in scripts/goldens/transformers/vision-goldens.py, and the state after them. */
function numbers(count: number, from: number): readonly [Float32Array, number] {
  let state = from;
  const data = Float32Array.from({ length: count }, () => {
    state = (state * 16_807) % 2_147_483_647;
    return ((state % 129) - 64) / 128;
  });
  return [data, state];
}

function weightsOf(shapes: Goldens["cases"][number]["shapes"]): Map<string, Float32Array> {
  let state = 1;
  const made = new Map<string, Float32Array>();
  for (const name of Object.keys(shapes).toSorted()) {
    const count = shapes[name]!.reduce((product, size) => product * size, 1);
    const [data, next] = numbers(count, state);
    made.set(name, data);
    state = next;
  }
  return made;
}

const storedOf = (shapes: Goldens["cases"][number]["shapes"]) =>
  new Map(Object.entries(shapes).map(([name, shape]) => [name, { type: "F32", shape }]));

/** The outputs of one trace, computed at once. */
function compute(source: GraphSource, inputs: readonly TensorInfo[], values: Readonly<Record<string, Literal>>) {
  const builder = new Builder({}, "eager");
  const given = new Map(inputs.map(({ name }) => [name, builder.constant(values[name]!)]));
  return new Map(
    [...source.trace(given, builder)].map(([name, value]) => {
      if (!isTensor(value)) throw new Error(`${name} is no tensor`);
      return [name, value.constant!];
    }),
  );
}

const [pixels] = numbers(2 * 3 * side * side, 7);
const integers = (rows: readonly (readonly number[])[]): Literal => int64Literal(rows.flat(), [rows.length, rows[0]!.length]);
const difference = (actual: Literal | undefined, data: readonly number[]): number =>
  worst(Float32Array.from(toNumbers(actual!)), Float32Array.from(data));

const cases = goldens.cases.map((each) => [each.architecture, each] as const);

describe("models of pictures", () => {
  it.each(cases.filter(([name]) => name !== "VisionEncoderDecoderModel"))("%s", (_name, each) => {
    const weights = weightsOf(each.shapes);
    const { source, inputs, outputs, pending } = buildTransformer(each.architecture, each.config, storedOf(each.shapes));
    for (const { name, setReader } of pending) setReader(() => weights.get(name)!);
    const results = compute(source, inputs, {
      pixel_values: toLiteral("float32", [2, 3, side, side], pixels),
      input_ids: integers(texts),
      attention_mask: integers(masks),
    });
    expect(outputs.map(({ name }) => name).toSorted()).toEqual([...results.keys()].toSorted());
    for (const [name, { shape, data }] of Object.entries(each.outputs)) {
      expect([name, results.get(name)?.shape]).toEqual([name, shape]);
      expect(difference(results.get(name), data)).toBeLessThan(2e-5);
    }
  });

  it.each(cases.filter(([name]) => name === "VisionEncoderDecoderModel"))("%s", (_name, each) => {
    const weights = weightsOf(each.shapes);
    const built = buildEncoderDecoder(each.architecture, each.config, storedOf(each.shapes));
    for (const { name, setReader } of built.pending) setReader(() => weights.get(name)!);
    const features = toLiteral("float32", [2, 3 * side, side], pixels);
    const states = compute(built.source, built.encoderInputs, { input_features: features });
    const ids = texts.slice(0, 2);
    const places = ids.map((row) => row.map((_, at) => at));
    const empty = built.inputs.flatMap(({ name, shape }) => {
      const [, heads = 0, , size = 0] = shape.map(Number);
      return name.startsWith("past") ? [[name, toLiteral("float32", [2, heads, 0, size], [])] as const] : [];
    });
    const results = compute(built.source, built.inputs, {
      ...Object.fromEntries([...states, ...empty]),
      input_ids: integers(ids),
      attention_mask: integers(ids.map((row) => row.map(() => 1))),
      position_ids: integers(places),
      encoder_attention_mask: integers(ids.map(() => Array.from({ length: built.features!.positions }, () => 1))),
    });
    expect(difference(results.get("logits"), each.outputs["logits"]!.data)).toBeLessThan(2e-5);
  });

  it("that are not built are refused by the field that says so", () => {
    const find = (name: string) => goldens.cases.find(({ architecture }) => architecture === name)!;
    const buildWith = (name: string, change: object) => () => {
      const { architecture, config, shapes } = find(name);
      const build = architecture === "VisionEncoderDecoderModel" ? buildEncoderDecoder : buildTransformer;
      return build(architecture, { ...config, ...change }, storedOf(shapes));
    };
    const unsupported = (key: string) => expect.objectContaining({ code: "MODEL_UNSUPPORTED", data: { key } });
    const { decoder } = find("VisionEncoderDecoderModel").config;
    const line = "VisionEncoderDecoderModel";
    expect(buildWith(line, { encoder: { model_type: "donut-swin" } })).toThrow(unsupported("model_type"));
    expect(buildWith(line, { decoder: { model_type: "mbart" } })).toThrow(unsupported("model_type"));
    const sines = { decoder: { ...(decoder as object), use_learned_position_embeddings: false } };
    expect(buildWith(line, sines)).toThrow(unsupported("use_learned_position_embeddings"));
    const other = { decoder: { ...(decoder as object), cross_attention_hidden_size: 5 } };
    expect(buildWith(line, other)).toThrow(unsupported("cross_attention_hidden_size"));
    expect(buildWith("SiglipModel", { vision_config: { vision_use_head: false } })).toThrow(unsupported("vision_use_head"));
    expect(buildWith("ViTModel", { patch_size: 11 })).toThrow(expect.objectContaining({ code: "MODEL_INVALID" }));
    expect(buildWith("ViTModel", { image_size: 12 })).toThrow(expect.objectContaining({ code: "MODEL_INVALID" }));
  });
});
