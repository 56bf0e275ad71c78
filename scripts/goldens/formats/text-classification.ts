/** Labels of texts and pairs (transformers): logits, probabilities and the best label. */
import type { LabelScore, ModelHandle } from "inferyard";
import { z } from "zod";
import { ids, parse, shown } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import type { Format } from "../format.ts";
import { checkProbes, checkTokens, probes } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const numbers = z.array(z.number());
const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        text_pair: z.string().nullish(),
        input_ids: ids,
        token_type_ids: ids.optional(),
        attention_mask: ids.optional(),
        logits: numbers,
        probabilities: numbers,
        label: z.string(),
      }),
    )
    .min(1),
  padded_batch: z
    .object({
      input_ids: z.array(ids).min(1),
      token_type_ids: z.array(ids).optional(),
      attention_mask: z.array(ids),
      logits: z.array(numbers),
    })
    .optional(),
  tokenizer_probes: probes,
});

export const textClassification: Format = {
  name: "text-classification-goldens-v1",
  read(goldens) {
    const { items, padded_batch: batch, tokenizer_probes: given } = parse(schema, goldens);
    return {
      async compare({ runtime, model, tokenizer: load }, checks) {
        const tokenizer = await load();
        checkTokens(checks, tokenizer, items);
        checkProbes(checks, tokenizer, given);
        const labels = labelsOf(model);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          checks.close(tolerances.logits, place, rowOf(await runRows(model, [item], "logits"), 0), item.logits);
          if (typeof item.text_pair === "string") continue;
          const { results } = await runtime.classify(item.text, { model });
          checks.equal("labels", place, results[0]?.[0]?.label, item.label);
          checks.close(tolerances.probability, place, byLabel(results[0] ?? [], labels), item.probabilities);
          const raw = await runtime.classify(item.text, { model, activation: "none" });
          checks.close(tolerances.logits, `classify, ${place}`, byLabel(raw.results[0] ?? [], labels), item.logits);
        }
        if (batch === undefined) return;
        const rows = batch.input_ids.map((row, index) => ({
          input_ids: row,
          attention_mask: batch.attention_mask[index],
          token_type_ids: batch.token_type_ids?.[index],
        }));
        const logits = await runRows(model, rows, "logits");
        for (const [index, golden] of batch.logits.entries())
          checks.close(tolerances.logits, `row ${index} of the padded batch`, rowOf(logits, index), golden);
      },
    };
  },
};

/** In the order of the model's outputs: `id2label` of config.json. */
function labelsOf({ manifest }: ModelHandle): readonly string[] {
  const stated = z.record(z.string(), z.string()).parse(manifest.variants[0]?.config["id2label"]);
  return Object.keys(stated)
    .toSorted((a, b) => Number(a) - Number(b))
    .map((id) => stated[id] ?? "");
}

function byLabel(scores: readonly LabelScore[], labels: readonly string[]): number[] {
  return labels.map((label) => scores.find((one) => one.label === label)?.score ?? Number.NaN);
}
