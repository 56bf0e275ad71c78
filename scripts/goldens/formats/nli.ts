/** Premises and hypotheses, and labels of one's own judged by them (transformers' zero-shot-classification). */
import { z } from "zod";
import { ids, parse, shown } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        text_pair: z.string().nullish(),
        input_ids: ids,
        token_type_ids: ids.optional(),
        logits: z.array(z.number()),
      }),
    )
    .min(1),
  zero_shot: z
    .array(
      z.object({
        text: z.string(),
        candidate_labels: z.array(z.string()).min(1),
        hypothesis_template: z.string(),
        multi_label: z.boolean(),
        labels: z.array(z.string()),
        scores: z.array(z.number()),
      }),
    )
    .optional(),
});

export const naturalLanguageInference: Format = {
  name: "nli-goldens-v1",
  read(goldens) {
    const { items, zero_shot: cases = [] } = parse(schema, goldens);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        // The pipeline never cuts the hypothesis.
        checkTokens(checks, await tokenizer(), items, { strategy: "only_first" });
        for (const [index, item] of items.entries())
          checks.close(tolerances.logits, shown(index, item.text), rowOf(await runRows(model, [item], "logits"), 0), item.logits);
        for (const [index, one] of cases.entries()) {
          const { results } = await runtime.classify(one.text, {
            model,
            labels: one.candidate_labels,
            hypothesisTemplate: one.hypothesis_template,
            multiLabel: one.multi_label,
          });
          const own = results[0] ?? [];
          const place = `zero-shot ${shown(index, one.text)}`;
          checks.equal(
            "orders",
            place,
            own.map(({ label }) => label),
            one.labels,
          );
          checks.close(
            tolerances.score,
            place,
            own.map(({ score }) => score),
            one.scores,
          );
        }
      },
    };
  },
};
