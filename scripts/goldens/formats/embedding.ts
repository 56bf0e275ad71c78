/** Sentence embeddings (sentence-transformers): token ids, places, vectors as they are and of unit length. */
import { z } from "zod";
import { base64Floats, ids, parse, shown } from "../encoded.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  max_seq_length: z.int().optional(),
  items: z
    .array(
      z.object({
        text: z.string(),
        input_ids: ids,
        offsets_codepoints: z.array(ids).optional(),
        embedding: base64Floats,
        embedding_normalized: base64Floats,
      }),
    )
    .min(1),
});

export const embedding: Format = {
  name: "embedding-goldens-v1",
  read(goldens) {
    const { items, max_seq_length: maxTokens } = parse(schema, goldens);
    const texts = items.map(({ text }) => text);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        checkTokens(checks, await tokenizer(), items, maxTokens === undefined ? {} : { maxTokens });
        const half = model.decision.model.variant === "fp16";
        for (const [normalize, tolerance] of [
          [false, tolerances.embedding],
          [true, tolerances.unitEmbedding],
        ] as const) {
          if (half && !normalize) continue; // what fp16 weights may be off by is stated of unit vectors alone
          const options = { model, normalize, ...(maxTokens === undefined ? {} : { maxTokens }) };
          const together = await runtime.embed(texts, options);
          for (const [index, item] of items.entries()) {
            const golden = normalize ? item.embedding_normalized : item.embedding;
            const allowed = half ? tolerances.halfEmbedding : tolerance;
            const alone = await runtime.embed(item.text, options);
            checks.close(allowed, `${shown(index, item.text)} in a batch`, together.embeddings[index] ?? [], golden);
            checks.close(allowed, shown(index, item.text), alone.embeddings[0] ?? [], golden);
          }
        }
      },
    };
  },
};
