/** Sparse embeddings (SPLADE): the weight of every vocabulary token. */
import { z } from "zod";
import { ids, parse, shown, tensor } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        input_ids: ids,
        splade: z.object({ indices: ids, values: tensor }),
        logits_first_token: tensor.optional(),
      }),
    )
    .min(1),
});

export const splade: Format = {
  name: "splade-goldens-v1",
  read(goldens) {
    const { items } = parse(schema, goldens);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        checkTokens(checks, await tokenizer(), items);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          const { embeddings, dimensions } = await runtime.embedSparse(item.text, { model });
          // Over the whole vocabulary: a token that one side leaves out weighs nothing there, and may weigh next to nothing on the other.
          const own = dense(dimensions, embeddings[0]?.indices ?? [], embeddings[0]?.values ?? []);
          const golden = dense(dimensions, item.splade.indices, item.splade.values.data);
          checks.close(tolerances.sparse, place, own, golden);
          if (item.logits_first_token === undefined) continue;
          const logits = rowOf(await runRows(model, [item], "logits"), 0).subarray(0, item.logits_first_token.data.length);
          checks.close(tolerances.logits, `the first token of ${place}`, logits, item.logits_first_token.data);
        }
      },
    };
  },
};

function dense(size: number, indices: ArrayLike<number>, values: ArrayLike<number>): Float64Array {
  const weights = new Float64Array(size);
  for (const [place, index] of Array.from(indices).entries()) {
    if (index >= size) throw new Error(`token ${index} is none of the model's ${size}`);
    weights[index] = values[place] ?? Number.NaN;
  }
  return weights;
}
