/** Transformers from safetensors, held against what PyTorch said of the same weights. */
import { existsSync, readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Device, ModelFiles, TensorModel } from "../../contract/backend.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { native } from "./index.ts";

const shared = new URL("../../../../shared/data/", import.meta.url).pathname;
const cpu: Device = { type: "cpu", index: 0 };
/** What the folders' own READMEs allow. */
const tolerance = 1e-4;

interface Encoded {
  readonly shape: readonly number[];
  readonly data: string;
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

async function load(name: string, architecture?: string): Promise<TensorModel> {
  const config = json(`${shared}${name}/config.json`) as { readonly architectures: readonly [string] };
  const files: ModelFiles = {
    format: "safetensors",
    path: `${shared}${name}/model.safetensors`,
    bytes: 0,
    architecture: architecture ?? config.architectures[0],
    config: { ...config },
  };
  return await native().load(files, cpu, {});
}

function floatsOf({ data }: Encoded): Float32Array {
  const bytes = Buffer.from(data, "base64");
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

const integers = (rows: readonly (readonly number[])[]): Tensor => ({
  dataType: "int64",
  shape: [rows.length, rows[0]?.length ?? 0],
  data: BigInt64Array.from(rows.flat(), BigInt),
});

function largestDifference(own: ArrayLike<number>, golden: ArrayLike<number>): number {
  if (own.length !== golden.length) return Number.NaN;
  return Array.from(own).reduce((max, value, index) => Math.max(max, Math.abs(value - (golden[index] ?? Number.NaN))), 0);
}

/** The last `count` rows of a tensor's second axis, of one text. */
function rows({ data, shape }: Tensor, text: number, from: number, count: number): Float32Array {
  const [, length = 0, width = 0] = shape;
  return (data as Float32Array).slice((text * length + from) * width, (text * length + from + count) * width);
}

const best = (logits: Float32Array): number => logits.indexOf(Math.max(...logits));

/** Of no tokens yet. */
function emptyCaches({ inputs }: TensorModel, batch: number): TensorMap {
  const caches = inputs.filter(({ name }) => name.startsWith("past"));
  return Object.fromEntries(
    caches.map(({ name, shape }): [string, Tensor] => {
      const [, heads, , size] = shape as readonly [unknown, number, unknown, number];
      return [name, { dataType: "float32", shape: [batch, heads, 0, size], data: new Float32Array(0) }];
    }),
  );
}

/** What one step leaves behind, for the next. */
function presentAsPast(outputs: TensorMap): TensorMap {
  const present = Object.entries(outputs).filter(([name]) => name.startsWith("present"));
  return Object.fromEntries(present.map(([name, tensor]) => [name.replace("present", "past_key_values"), tensor]));
}

describe.skipIf(!existsSync(shared))("tiny-random-t5", () => {
  interface Item {
    readonly input_ids: readonly number[];
    readonly encoder_last_hidden_state: Encoded;
  }
  const items = (): readonly Item[] =>
    (json(`${shared}tiny-random-t5/goldens.json`) as { readonly items: readonly Item[] }).items;
  const ones = (ids: readonly number[]): Tensor => integers([ids.map(() => 1)]);

  it("is an encoder alone where config.json says so", async () => {
    const model = await load("tiny-random-t5", "T5EncoderModel");
    for (const { input_ids: ids, encoder_last_hidden_state: golden } of items()) {
      const { last_hidden_state: hidden } = await model.run({ input_ids: integers([ids]), attention_mask: ones(ids) });
      expect(largestDifference(hidden?.data as Float32Array, floatsOf(golden))).toBeLessThan(tolerance);
    }
  });
});

describe.skipIf(!existsSync(shared)).each(["tiny-random-gpt2", "tiny-random-llama", "tiny-random-qwen2", "tiny-random-gemma"])(
  "%s",
  (name) => {
    interface Item {
      readonly input_ids: readonly number[];
      readonly generated_ids: readonly number[];
      readonly prompt_logits: Encoded;
      readonly step_logits_last: Encoded;
    }
    interface Goldens {
      readonly items: readonly Item[];
      readonly batch_left_padded: {
        readonly input_ids: readonly (readonly number[])[];
        readonly attention_mask: readonly (readonly number[])[];
        readonly generated_ids: readonly (readonly number[])[];
      };
    }
    let model: TensorModel;
    let goldens: Goldens;
    beforeAll(async () => {
      model = await load(name);
      goldens = json(`${shared}${name}/goldens.json`) as Goldens;
    });

    /** Greedy, as `generate` does it: the prompt in one go, then token by token. Gives the logits of the prompt, those of the last step, and what was chosen. */
    async function generate(ids: readonly (readonly number[])[], given: readonly (readonly number[])[], steps: number) {
      let masks = given.map((mask) => [...mask]);
      let tokens = ids.map((row) => [...row]);
      let places = masks.map((mask) =>
        mask.map((seen, at) => (seen === 1 ? mask.slice(0, at).reduce((sum, one) => sum + one, 0) : 1)),
      );
      let caches = emptyCaches(model, ids.length);
      const chosen: number[][] = ids.map(() => []);
      let [prompt, last]: (Tensor | undefined)[] = [];
      for (let step = 0; step < steps; step += 1) {
        const outputs = await model.run({
          input_ids: integers(tokens),
          attention_mask: integers(masks),
          position_ids: integers(places),
          ...caches,
        });
        last = outputs["logits"] as Tensor;
        prompt ??= last;
        const width = last.shape[1] ?? 0;
        tokens = chosen.map((row, text) => {
          const next = best(rows(last as Tensor, text, width - 1, 1));
          row.push(next);
          return [next];
        });
        caches = presentAsPast(outputs);
        masks = masks.map((mask) => [...mask, 1]);
        places = masks.map((mask) => [mask.reduce((sum, one) => sum + one, 0) - 1]);
      }
      return { prompt: prompt as Tensor, last: last as Tensor, chosen };
    }

    it("gives the logits and the tokens of the goldens, with its caches", async () => {
      for (const { input_ids: ids, generated_ids: wanted, prompt_logits: logits, step_logits_last: final } of goldens.items) {
        const { prompt, last, chosen } = await generate([ids], [ids.map(() => 1)], wanted.length);
        expect(largestDifference(prompt.data as Float32Array, floatsOf(logits))).toBeLessThan(tolerance);
        expect(chosen[0]).toEqual(wanted);
        expect(largestDifference(rows(last, 0, 0, 1), floatsOf(final))).toBeLessThan(tolerance);
      }
      expect(await model.evidence()).toEqual([
        expect.stringMatching(/ 0 interpreted$/),
        expect.stringMatching(/^kernel checks: \d+ functions /),
        expect.stringMatching(/^machine code: /),
      ]);
    });

    it("does so for texts of different lengths, padded on the left", async () => {
      const { input_ids: ids, attention_mask: masks, generated_ids: wanted } = goldens.batch_left_padded;
      expect((await generate(ids, masks, wanted[0]?.length ?? 0)).chosen).toEqual(wanted);
    });

    it("has a program for its first token when it is loaded", async () => {
      expect(await (await load(name)).evidence()).toEqual([
        expect.stringMatching(/executable of \d+ steps/),
        expect.stringMatching(/^kernel checks: \d+ functions /),
        expect.stringMatching(/^machine code: /),
      ]);
    });

    it("refuses a mask that does not go with its caches", async () => {
      const inputs = { input_ids: integers([[1]]), attention_mask: integers([[1, 1]]), position_ids: integers([[0]]) };
      await expect(model.run({ ...inputs, ...emptyCaches(model, 1) })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    });
  },
);
