/** Pictures to text: the encoder's hidden states of stored pixels, and greedy decoding. */
import { z } from "zod";
import { batchOf, ids, parse, tensor } from "../encoded.ts";
import { rowOf } from "../encoder-rows.ts";
import { type Format, outputOf, pairOf } from "../format.ts";
import { generate, lastOf } from "../greedy.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  decoder_start_token_id: z.int(),
  items: z
    .array(
      z.object({
        image: z.string(),
        pixel_values: tensor,
        generated_ids: ids.min(1),
        encoder_last_hidden_state: tensor,
        first_step_logits: tensor,
      }),
    )
    .min(1),
});

export const imageToText: Format = {
  name: "image-to-text-goldens-v1",
  read(goldens) {
    const { items, decoder_start_token_id: start } = parse(schema, goldens);
    return {
      graphs: ["onnx/encoder_model.onnx", "onnx/decoder_model_merged.onnx"],
      async compare({ graphs }, checks) {
        const [encoder, decoder] = pairOf(graphs);
        for (const { image, pixel_values: pixels, generated_ids: wanted, ...item } of items) {
          const hidden = outputOf(await encoder.run({ pixel_values: batchOf(pixels) }), "last_hidden_state");
          checks.close(tolerances.hiddenState, image, rowOf(hidden, 0), item.encoder_last_hidden_state.data);
          const prompt = { ids: [[start]], beside: { encoder_hidden_states: hidden } };
          const { ids: own, prompt: first } = await generate(decoder, prompt, wanted.length);
          checks.equal("generated ids", image, own[0], wanted);
          checks.close(tolerances.logits, `the first step of ${image}`, lastOf(first, 0), item.first_step_logits.data);
        }
      },
    };
  },
};
