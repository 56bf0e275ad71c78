/** An encoder's hidden states (transformers), for texts, pairs and a padded batch, and the vectors pooled from them. */
import { z } from "zod";
import type { Checks } from "../checks.ts";
import { type EncodedTensor, ids, parse, shown, tensor } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import type { Format, Subject } from "../format.ts";
import { checkProbes, checkTokens, probes } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        text_pair: z.string().nullish(),
        input_ids: ids,
        token_type_ids: ids.optional(),
        attention_mask: ids.optional(),
        last_hidden_state: tensor,
        pooler_output: tensor.optional(),
        mean_pooled: tensor.optional(),
        mean_pooled_normalized: tensor.optional(),
        cls_pooled: tensor.optional(),
      }),
    )
    .min(1),
  padded_batch: z
    .object({
      input_ids: z.array(ids).min(1),
      token_type_ids: z.array(ids).optional(),
      attention_mask: z.array(ids),
      last_hidden_state: tensor,
    })
    .optional(),
  tokenizer_probes: probes,
});

type Goldens = z.infer<typeof schema>;

export const featureExtraction: Format = {
  name: "feature-extraction-goldens-v1",
  read(goldens) {
    const { items, padded_batch: batch, tokenizer_probes: given } = parse(schema, goldens);
    return {
      async compare(subject, checks) {
        const tokenizer = await subject.tokenizer();
        checkTokens(checks, tokenizer, items);
        checkProbes(checks, tokenizer, given);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          const hidden = await runRows(subject.model, [item], "last_hidden_state");
          checks.close(tolerances.hiddenState, place, rowOf(hidden, 0), item.last_hidden_state.data);
          if (item.pooler_output !== undefined && subject.model.outputs.some(({ name }) => name === "pooler_output")) {
            const pooled = await runRows(subject.model, [item], "pooler_output");
            checks.close(tolerances.pooled, `pooler output, ${place}`, rowOf(pooled, 0), item.pooler_output.data);
          }
          if (typeof item.text_pair !== "string") await comparePooled(subject, checks, item, place);
        }
        if (batch !== undefined) await compareBatch(subject, checks, batch);
      },
    };
  },
};

async function comparePooled(
  { runtime, model }: Subject,
  checks: Checks,
  item: Goldens["items"][number],
  place: string,
): Promise<void> {
  const ways: readonly (readonly [
    name: string,
    golden: EncodedTensor | undefined,
    pooling: "mean" | "cls" | "none",
    normalize: boolean,
  ])[] = [
    ["mean", item.mean_pooled, "mean", false],
    ["unit mean", item.mean_pooled_normalized, "mean", true],
    ["cls", item.cls_pooled, "cls", false],
    ["all tokens", item.last_hidden_state, "none", false],
  ];
  for (const [name, golden, pooling, normalize] of ways) {
    if (golden === undefined) continue;
    const { embeddings } = await runtime.embed(item.text, { model, pooling, normalize });
    checks.close(tolerances.pooled, `${name}, ${place}`, embeddings[0] ?? [], golden.data);
  }
}

/** Places that are masked mean nothing, and are not compared. */
async function compareBatch({ model }: Subject, checks: Checks, batch: NonNullable<Goldens["padded_batch"]>): Promise<void> {
  const { last_hidden_state: golden, attention_mask: masks, input_ids: rows, token_type_ids: types } = batch;
  const given = rows.map((row, index) => ({ input_ids: row, attention_mask: masks[index], token_type_ids: types?.[index] }));
  const hidden = await runRows(model, given, "last_hidden_state");
  const size = golden.shape.at(-1) ?? 0;
  const rowSize = golden.data.length / rows.length;
  const seen = (values: Float32Array, mask: readonly number[]): Float32Array =>
    values.filter((_value, place) => mask[Math.floor(place / size)] === 1);
  for (const [index, mask] of masks.entries()) {
    const own = seen(rowOf(hidden, index), mask);
    const wanted = seen(golden.data.subarray(index * rowSize, (index + 1) * rowSize), mask);
    checks.close(tolerances.hiddenState, `row ${index} of the padded batch`, own, wanted);
  }
}
