/** Encoders with decoders of text: hidden states, and greedy decoding with the past of both. */
import type { Tensor } from "inferyard";
import { z } from "zod";
import { ids, parse, shown, tensor } from "../encoded.ts";
import { rowOf, runRows } from "../encoder-rows.ts";
import { type Format, pairOf } from "../format.ts";
import { generate, lastOf, whole } from "../greedy.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  items: z
    .array(
      z.object({
        text: z.string(),
        input_ids: ids,
        decoder_start_token_id: z.int(),
        generated_ids: ids.min(1),
        encoder_last_hidden_state: tensor,
        first_step_logits: tensor,
        step_logits_last: tensor,
      }),
    )
    .min(1),
});

export const seq2seq: Format = {
  name: "seq2seq-goldens-v1",
  read(goldens) {
    const { items } = parse(schema, goldens);
    return {
      graphs: ["onnx/encoder_model.onnx", "onnx/decoder_model_merged.onnx"],
      async compare({ graphs }, checks) {
        const [encoder, decoder] = pairOf(graphs);
        for (const [index, item] of items.entries()) {
          const place = shown(index, item.text);
          const hidden: Tensor = await runRows(encoder, [item], "last_hidden_state");
          checks.close(tolerances.hiddenState, place, rowOf(hidden, 0), item.encoder_last_hidden_state.data);
          const beside = { encoder_hidden_states: hidden, encoder_attention_mask: whole([item.input_ids.map(() => 1)]) };
          const start = { ids: [[item.decoder_start_token_id]], beside };
          const { ids: own, prompt, last } = await generate(decoder, start, item.generated_ids.length);
          checks.equal("generated ids", place, own[0], item.generated_ids);
          checks.close(tolerances.logits, `the first step of ${place}`, lastOf(prompt, 0), item.first_step_logits.data);
          checks.close(tolerances.logits, `the last step of ${place}`, lastOf(last, 0), item.step_logits_last.data);
        }
      },
    };
  },
};
