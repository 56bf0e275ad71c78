/** Texts and pictures in one space (CLIP), from token ids and stored pixels: each alone, and how they fit together. */
import { z } from "zod";
import { batchOf, ids, parse, shown, stacked, tensor } from "../encoded.ts";
import { rowOf } from "../encoder-rows.ts";
import { type Format, outputOf } from "../format.ts";
import { whole } from "../greedy.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  texts: z.array(z.object({ text: z.string(), input_ids: ids, text_embeds: tensor })).min(1),
  images: z.array(z.object({ image: z.string(), pixel_values: tensor, image_embeds: tensor })).min(1),
  joint: z.object({ input_ids: z.array(ids), attention_mask: z.array(ids), logits_per_image: z.array(z.array(z.number())) }),
});

export const clip: Format = {
  name: "clip-goldens-v1",
  read(goldens) {
    const { texts, images, joint } = parse(schema, goldens);
    return {
      graphs: ["onnx/model.onnx", "onnx/text_model.onnx", "onnx/vision_model.onnx"],
      async compare({ graphs }, checks) {
        const [both, text, vision] = graphs;
        if (both === undefined || text === undefined || vision === undefined) throw new Error("three graphs are needed");
        for (const [index, { text: words, input_ids: tokens, text_embeds: golden }] of texts.entries()) {
          const inputs = { input_ids: whole([tokens]), attention_mask: whole([tokens.map(() => 1)]) };
          const own = rowOf(outputOf(await text.run(inputs), "text_embeds"), 0);
          checks.close(tolerances.pooled, shown(index, words), own, golden.data);
        }
        for (const { image, pixel_values: pixels, image_embeds: golden } of images) {
          const own = rowOf(outputOf(await vision.run({ pixel_values: batchOf(pixels) }), "image_embeds"), 0);
          checks.close(tolerances.pooled, image, own, golden.data);
        }
        const pixels = stacked(images.map(({ pixel_values: each }) => each));
        const inputs = { input_ids: whole(joint.input_ids), attention_mask: whole(joint.attention_mask), pixel_values: pixels };
        const own = outputOf(await both.run(inputs), "logits_per_image");
        for (const [index, golden] of joint.logits_per_image.entries())
          checks.close(tolerances.jointLogits, images[index]?.image ?? `picture ${index}`, rowOf(own, index), golden);
      },
    };
  },
};
