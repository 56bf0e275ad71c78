/** Names in texts (transformers): the label of every token, and the pipeline's entities in every way of joining tokens. */
import type { Entity } from "inferyard";
import { z } from "zod";
import { ids, parse, shown, tensor } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const entity = z.object({
  entity: z.string().optional(),
  entity_group: z.string().optional(),
  score: z.number(),
  index: z.int().optional(),
  word: z.string(),
  start: z.int(),
  end: z.int(),
});
const aggregations = ["none", "simple", "first", "average", "max"] as const;
const schema = z.object({
  labels: z.array(z.string()).min(1),
  items: z
    .array(
      z.object({
        text: z.string(),
        input_ids: ids,
        tokens: z.array(z.string()).optional(),
        offsets_codepoints: z.array(ids).optional(),
        logits: tensor,
        labels: z.array(z.string()),
        pipeline: z.partialRecord(z.enum(aggregations), z.array(entity)).nullish(),
      }),
    )
    .min(1),
});

export const tokenClassification: Format = {
  name: "token-classification-goldens-v1",
  read(goldens) {
    const { items, labels } = parse(schema, goldens);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        checkTokens(checks, await tokenizer(), items);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          const logits = rowOf(await runRows(model, [item], "logits"), 0);
          checks.close(tolerances.logits, place, logits, item.logits.data);
          const best = item.input_ids.map((_id, token) => {
            const own = logits.subarray(token * labels.length, (token + 1) * labels.length);
            return labels[own.indexOf(Math.max(...own))];
          });
          checks.equal("token labels", place, best, item.labels);
          for (const aggregation of aggregations) {
            const golden = item.pipeline?.[aggregation];
            if (golden === undefined) continue;
            const { results } = await runtime.recognize(item.text, { model, aggregation, offsets: "codepoints" });
            const own = results[0] ?? [];
            checks.equal("entities", `${aggregation}, ${place}`, own.map(parts), golden.map(goldenParts));
            const scores = own.map(({ score }) => score);
            checks.close(
              tolerances.score,
              `${aggregation}, ${place}`,
              scores,
              golden.map(({ score }) => score),
            );
          }
        }
      },
    };
  },
};

function parts({ entity: label, entityGroup, word, start, end, index }: Entity): unknown[] {
  return [label ?? entityGroup ?? null, word, start, end, index ?? null];
}

function goldenParts({ entity: label, entity_group: group, word, start, end, index }: z.infer<typeof entity>): unknown[] {
  return [label ?? group ?? null, word, start, end, index ?? null];
}
