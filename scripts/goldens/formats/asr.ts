/** Speech to text (Whisper), from stored log-mel frames: the encoder's hidden states, and greedy decoding behind a prefix. */
import type { Tensor } from "inferyard";
import { z } from "zod";
import { ids, parse, tensor } from "../encoded.ts";
import { type Format, outputOf, pairOf } from "../format.ts";
import { generate, lastOf } from "../greedy.ts";
import { tolerances } from "../tolerances.ts";

const schema = z.object({
  audio: z.string(),
  log_mel: z.object({
    shape: z.tuple([z.int().positive(), z.int().positive()]),
    first_202_frames: tensor,
    remaining_frames_constant: z.number(),
  }),
  decoder_prefix: ids.min(1),
  greedy_raw: z.object({ generated_ids: ids.min(1), first_step_logits: tensor, last_step_logits: tensor }),
  encoder_last_hidden_state_first_4_frames: tensor,
});

export const asr: Format = {
  name: "asr-goldens-v1",
  read(goldens) {
    const golden = parse(schema, goldens);
    const { audio, greedy_raw: greedy, encoder_last_hidden_state_first_4_frames: frames } = golden;
    return {
      graphs: ["onnx/encoder_model.onnx", "onnx/decoder_model_merged.onnx"],
      async compare({ graphs }, checks) {
        const [encoder, decoder] = pairOf(graphs);
        const hidden = outputOf(await encoder.run({ input_features: features(golden.log_mel) }), "last_hidden_state");
        const first = (hidden.data as Float32Array).subarray(0, frames.data.length);
        checks.close(tolerances.hiddenState, audio, first, frames.data);
        const prompt = { ids: [golden.decoder_prefix], beside: { encoder_hidden_states: hidden } };
        const { ids: own, prompt: said, last } = await generate(decoder, prompt, greedy.generated_ids.length);
        checks.equal("generated ids", audio, own[0], greedy.generated_ids);
        checks.close(tolerances.logits, `the first step of ${audio}`, lastOf(said, 0), greedy.first_step_logits.data);
        checks.close(tolerances.logits, `the last step of ${audio}`, lastOf(last, 0), greedy.last_step_logits.data);
      },
    };
  },
};

/** The goldens hold the frames that differ; all others are silence, and have one value. */
function features({ shape: [bins, count], first_202_frames: given, remaining_frames_constant: silence }: LogMel): Tensor {
  const data = new Float32Array(bins * count).fill(silence);
  const known = given.data.length / bins;
  for (let bin = 0; bin < bins; bin += 1) data.set(given.data.subarray(bin * known, (bin + 1) * known), bin * count);
  return { dataType: "float32", shape: [1, bins, count], data };
}

type LogMel = z.infer<typeof schema>["log_mel"];
