/** Late interaction (ColBERT): the vectors of all tokens, MaxSim, and the order that it gives. */
import { maxSim } from "inferyard";
import { z } from "zod";
import { ids, parse, shown, tensor } from "../encoded.ts";
import type { Format } from "../format.ts";
import { checkTokens } from "../token-checks.ts";
import { tolerances } from "../tolerances.ts";

const part = z.object({ text: z.string(), input_ids: ids, embeddings: tensor });
const schema = z.object({
  query: part,
  documents: z.array(part.extend({ maxsim: z.number() })).min(1),
  ranking: ids,
});

export const colbert: Format = {
  name: "colbert-goldens-v1",
  read(goldens) {
    const { query, documents, ranking } = parse(schema, goldens);
    const texts = documents.map(({ text }) => text);
    return {
      async compare({ runtime, model, tokenizer }, checks) {
        const parts = [query, ...documents];
        checkTokens(checks, await tokenizer(), parts);
        const { embeddings, dimensions } = await runtime.embed(
          parts.map(({ text }) => text),
          { model, pooling: "none" },
        );
        for (const [index, { text, embeddings: golden }] of parts.entries())
          checks.close(tolerances.tokenVector, shown(index, text), embeddings[index] ?? [], golden.data);
        const asked = { data: embeddings[0] ?? new Float32Array(), dimensions };
        for (const [index, { text, maxsim }] of documents.entries()) {
          const own = maxSim(asked, { data: embeddings[index + 1] ?? new Float32Array(), dimensions });
          checks.close(tolerances.maxSim, shown(index, text), [own], [maxsim]);
        }
        const { results } = await runtime.rerank(query.text, texts, { model });
        checks.equal(
          "orders",
          "the ranking",
          results.map(({ index }) => index),
          ranking,
        );
        const golden = results.map(({ index }) => documents[index]?.maxsim ?? Number.NaN);
        checks.close(
          tolerances.maxSim,
          "the ranking",
          results.map(({ score }) => score),
          golden,
        );
      },
    };
  },
};
