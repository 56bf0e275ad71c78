/** Decoding with sliding-window attention: the window counts tokens, not the positions of the cache, which has unused ones between them. */
import { expect, it } from "vitest";
import { worst } from "../../../../test/fixtures/shared-data.ts";
import { zeros } from "../../../contract/tensor.ts";
import { detectWasmFeatures, EngineModel, buildTransformer } from "../../index.ts";

const config = {
  hidden_size: 16,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  vocab_size: 20,
  sliding_window: 5,
};
const block = (layer: number): Readonly<Record<string, readonly number[]>> => {
  const at = `model.layers.${layer}`;
  return {
    [`${at}.self_attn.q_proj.weight`]: [16, 16],
    [`${at}.self_attn.k_proj.weight`]: [8, 16],
    [`${at}.self_attn.v_proj.weight`]: [8, 16],
    [`${at}.self_attn.o_proj.weight`]: [16, 16],
    [`${at}.mlp.gate_proj.weight`]: [12, 16],
    [`${at}.mlp.up_proj.weight`]: [12, 16],
    [`${at}.mlp.down_proj.weight`]: [16, 12],
    [`${at}.input_layernorm.weight`]: [16],
    [`${at}.post_attention_layernorm.weight`]: [16],
  };
};
const shapes = {
  "model.embed_tokens.weight": [20, 16],
  "lm_head.weight": [20, 16],
  "model.norm.weight": [16],
  ...block(0),
  ...block(1),
};

it("gives in prompts, chunks and single tokens the logits of the whole text at once", async () => {
  const stored = new Map(Object.entries(shapes).map(([name, shape]) => [name, { type: "F32", shape }]));
  const { source, inputs, pending } = buildTransformer("MistralForCausalLM", config, stored);
  let state = 1;
  for (const { name, setReader } of pending) {
    const count = stored.get(name)!.shape.reduce((product, size) => product * size, 1);
    const data = Float32Array.from({ length: count }, () => {
      state = (state * 16_807) % 2_147_483_647;
      return ((state % 129) - 64) / 128;
    });
    setReader(() => data);
  }
  const engine = new EngineModel(source, { features: detectWasmFeatures() });
  const text = Array.from({ length: 75 }, (_, index) => (index * 7) % 20);
  const integers = (values: readonly number[]) =>
    ({ dataType: "int64", shape: [1, values.length], data: BigInt64Array.from(values, BigInt) }) as const;
  const pasts = inputs.filter(({ name }) => name.startsWith("past")).map(({ name }) => [name, zeros("float32", [1, 1, 0, 8])]);
  const { logits } = await engine.run({
    input_ids: integers(text),
    attention_mask: integers(text.map(() => 1)),
    position_ids: integers(text.map((_, index) => index)),
    ...Object.fromEntries(pasts),
  });
  const whole = logits!.data as Float32Array;
  const sequences = await engine.sequences(inputs);
  const [sequence, other] = [await sequences.create(), await sequences.create()];
  let done = 0;
  for (const tokens of [text.slice(0, 20), text.slice(20, 50), ...text.slice(50).map((token) => [token])]) {
    const steps = [sequence, other].map((each) => ({ sequence: each, tokens, logits: tokens.length }));
    const [own, twin] = await sequences.decode(steps, undefined);
    expect(worst(own!, whole.slice(done * 20, (done + tokens.length) * 20)), `from ${done} on`).toBeLessThan(1e-5);
    expect(twin).toEqual(own);
    done += tokens.length;
  }
  await engine.dispose();
});
