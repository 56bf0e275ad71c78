/** Pairs that are scored and documents that are ranked (sentence-transformers' CrossEncoder). */
import { z } from "zod";
import { ids, parse, shown } from "../encoded.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        text_pair: z.string(),
        input_ids: ids,
        token_type_ids: ids.optional(),
        logit: z.number(),
        sigmoid: z.number().optional(),
        cross_encoder_score: z.number().optional(),
      }),
    )
    .min(1),
  rank: z
    .object({
      query: z.string(),
      documents: z.array(z.string()),
      result: z.array(z.object({ corpus_id: z.int(), score: z.number() })),
    })
    .optional(),
});

export const crossEncoder: Format = {
  name: "cross-encoder-goldens-v1",
  read(goldens) {
    const { items, rank } = parse(schema, goldens);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        checkTokens(checks, await tokenizer(), items);
        for (const [index, { text, text_pair: document, logit, ...item }] of items.entries()) {
          const place = shown(index, text);
          const raw = await runtime.rerank(text, [document], { model, raw: true });
          checks.close(
            tolerances.logits,
            place,
            raw.results.map(({ score }) => score),
            [logit],
          );
          const golden = item.cross_encoder_score ?? item.sigmoid;
          if (golden === undefined) continue;
          const scored = await runtime.rerank(text, [document], { model });
          checks.close(
            tolerances.score,
            place,
            scored.results.map(({ score }) => score),
            [golden],
          );
        }
        if (rank === undefined) return;
        const { results } = await runtime.rerank(rank.query, rank.documents, { model });
        checks.equal(
          "orders",
          "the ranking",
          results.map(({ index }) => index),
          rank.result.map(({ corpus_id: id }) => id),
        );
        checks.close(
          tolerances.score,
          "the ranking",
          results.map(({ score }) => score),
          rank.result.map(({ score }) => score),
        );
      },
    };
  },
};
