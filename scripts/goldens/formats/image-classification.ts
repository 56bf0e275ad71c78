/** Classes of pictures, from stored pixels: the engines alone, without the preparation of pictures. */
import { z } from "zod";
import { batchOf, parse, tensor } from "../encoded.ts";
import { rowOf } from "../encoder-rows.ts";
import { type Format, outputOf } from "../format.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z.array(z.object({ image: z.string(), pixel_values: tensor, logits: z.array(z.number()).min(1) })).min(1),
});

export const imageClassification: Format = {
  name: "image-classification-goldens-v1",
  read(goldens) {
    const { items } = parse(schema, goldens);
    return {
      async compare({ model }, checks) {
        for (const { image, pixel_values: pixels, logits } of items) {
          const own = outputOf(await model.run({ pixel_values: batchOf(pixels) }), "logits");
          checks.close(tolerances.logits, image, rowOf(own, 0), logits);
        }
      },
    };
  },
};
