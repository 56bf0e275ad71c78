/** Workloads for measuring: one input repeatedly, and many at once. */
import type { Runtime } from "../../api/runtime.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";
import { probeInputs } from "../../runtime/loading/probe-inputs.ts";

/** What a target is measured with. */
export interface Workload {
  /** What one input is. */
  readonly unit: "texts" | "runs";
  /** Runs one input. */
  one(): Promise<unknown>;
  /** Runs many inputs in one call; resolves with their number of tokens, 0 for tensors. */
  many(): Promise<number>;
}

/** Texts for a model that takes text, else tensors made from its declared inputs. */
export function workloadFor(runtime: Runtime, handle: ModelHandle, count: number, batchTokens?: number): Workload {
  return handle.manifest.text === undefined ? tensorWorkload(handle, count) : textWorkload(runtime, handle, count, batchTokens);
}

const shortText = "A cat sits on the mat and watches the rain.";
const phrase = "the quick brown fox jumps over a lazy dog while seven wizards box near the old stone bridge ";

/** Texts of 1 to 11 times the phrase in a fixed order: the same at every call. */
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
      const queue = Array.from({ length: count }, () => inputs).values(); // all replicas take from one queue
      const replicas = await handle.replicas();
      await Promise.all(
        replicas.map(async (replica) => {
          for (const next of queue) await replica.run(next);
        }),
      );
      return 0;
    },
  };
}
