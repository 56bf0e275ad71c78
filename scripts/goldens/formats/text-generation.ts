/** Decoders: what they say of a prompt, and greedy decoding with their own past, row by row and with rows filled on the left. */
import { z } from "zod";
import { ids, parse, shown, tensor } from "../encoded.ts";
import { rowOf } from "../encoder-rows.ts";
import type { Format } from "../format.ts";
import { generate, lastOf } from "../greedy.ts";
import { checkProbes, checkTokens, probes } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        input_ids: ids,
        generated_ids: ids.min(1),
        generated_text: z.string(),
        prompt_logits: tensor,
        step_logits_last: tensor,
      }),
    )
    .min(1),
  batch_left_padded: z
    .object({ input_ids: z.array(ids).min(1), attention_mask: z.array(ids), generated_ids: z.array(ids) })
    .optional(),
  tokenizer_probes: probes,
});

export const textGeneration: Format = {
  name: "text-generation-goldens-v1",
  read(goldens) {
    const { items, batch_left_padded: batch, tokenizer_probes: given } = parse(schema, goldens);
    return {
      async compare({ model, tokenizer }, checks) {
        const tokens = await tokenizer();
        checkTokens(checks, tokens, items);
        checkProbes(checks, tokens, given);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          const { ids: own, prompt, last } = await generate(model, { ids: [item.input_ids] }, item.generated_ids.length);
          checks.equal("generated ids", place, own[0], item.generated_ids);
          checks.equal("generated texts", place, tokens.decode(own[0] ?? []), item.generated_text);
          checks.close(tolerances.logits, `the prompt of ${place}`, rowOf(prompt, 0), item.prompt_logits.data);
          checks.close(tolerances.logits, `the last step of ${place}`, lastOf(last, 0), item.step_logits_last.data);
        }
        if (batch === undefined) return;
        const { input_ids: rows, attention_mask: masks, generated_ids: wanted } = batch;
        const { ids: own } = await generate(model, { ids: rows, masks }, wanted[0]?.length ?? 0);
        checks.equal("generated ids", "the batch filled on the left", own, wanted);
      },
    };
  },
};
