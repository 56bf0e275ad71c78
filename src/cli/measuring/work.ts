/** The work that a target is measured with: one input again and again, and many at once. */
import type { Runtime } from "../../api/runtime.ts";
import { InferyardError } from "../../errors.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { probeInputs } from "../../runtime/loading/verification.ts";

export interface Workload {
  /** What one input is. */
  readonly unit: "texts" | "runs";
  one(): Promise<unknown>;
  /** Many inputs in one call; gives how many tokens they had, 0 where there are none. */
  many(): Promise<number>;
}

/** Texts for a model that takes text, else tensors made from what the model says of its inputs. */
export function workloadFor(runtime: Runtime, handle: ModelHandle, count: number, batchTokens?: number): Workload {
  return handle.manifest.text === undefined ? tensorWorkload(handle, count) : textWorkload(runtime, handle, count, batchTokens);
}

const shortText = "A cat sits on the mat and watches the rain.";
const phrase = "the quick brown fox jumps over a lazy dog while seven wizards box near the old stone bridge ";

/** From 1 to 11 times the phrase, shuffled by a fixed rule: the same texts at every call. */
function sampleTexts(count: number): string[] {
  return Array.from({ length: count }, (_text, index) => phrase.repeat(1 + ((index * 7) % 11)).slice(index % 40));
}

function textWorkload(runtime: Runtime, model: ModelHandle, count: number, batchTokens: number | undefined): Workload {
  const texts = sampleTexts(count);
  const options = { model, ...(batchTokens === undefined ? {} : { batchTokens }) };
  return {
    unit: "texts",
    one: () => runtime.embed(shortText, options),
    many: async () => (await runtime.embed(texts, options)).tokens.reduce((sum, tokens) => sum + tokens, 0),
  };
}

function tensorWorkload(handle: ModelHandle, count: number): Workload {
  const { probe, name } = handle.manifest;
  const inputs = probe?.kind === "tensors" ? probe.inputs : probeInputs(handle.inputs);
  if (inputs === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `${name} has no tokenizer, and sizes of its inputs are free`, {
      remedy: "name inputs to measure it with: `probe` with `inputs` in its inferyard.json (docs/reference/model-files.md)",
    });
  }
  return {
    unit: "runs",
    one: () => handle.run(inputs),
    async many() {
      const queue = Array.from({ length: count }, () => inputs).values(); // the lanes take from one queue
      const lanes = await handle.replicas();
      await Promise.all(
        lanes.map(async (lane) => {
          for (const next of queue) await lane.run(next);
        }),
      );
      return 0;
    },
  };
}
