/** File types (Magika): labels and scores in each of its modes, through the example that shows a processor of one's own. */
import { z } from "zod";
import { Magika } from "../../../examples/magika/magika.ts";
import { parse } from "../encoded.ts";
import type { Format } from "../format.ts";
import { tolerances } from "../tolerances.ts";

const schema = z
  .array(
    z.object({
      prediction_mode: z.enum(["high_confidence", "medium_confidence", "best_guess"]),
      content_base64: z.string(),
      prediction: z.object({ dl: z.string(), output: z.string(), score: z.number() }),
    }),
  )
  .min(1);

export const magika: Format = {
  name: "magika",
  read(goldens) {
    const items = parse(schema, goldens);
    return {
      async compare({ runtime, folder, model }, checks) {
        const processor = await Magika.load(runtime, folder);
        if (processor.target !== model.target)
          throw new Error(`it was loaded on ${processor.target}, and not on ${model.target}`);
        for (const [index, { prediction_mode: mode, content_base64: content, prediction }] of items.entries()) {
          const { label, score, modelLabel = "undefined" } = await processor.identify(Buffer.from(content, "base64"), { mode });
          checks.equal("labels", `item ${index}, ${mode}`, [modelLabel, label], [prediction.dl, prediction.output]);
          checks.close(tolerances.magika, `item ${index}, ${mode}`, [score], [prediction.score]);
        }
        await processor.dispose();
      },
    };
  },
};
