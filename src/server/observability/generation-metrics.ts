/** Metrics of generated texts, under our names and under vLLM's, which gateways and autoscalers for inference read. */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Runtime } from "../../api/runtime.ts";
import type { WrittenText } from "../serving/call-record.ts";
import { addCollected } from "./collected.ts";

type Sequences = ReturnType<Runtime["sequences"]>[number];

/** What is told of texts that have not ended: how it is shown, and its value for a model. */
const states: Record<
  string,
  readonly [Kind: typeof Gauge | typeof Counter, help: string, read: (of: Sequences) => number | undefined]
> = {
  running: [Gauge, "Texts that are being generated", ({ running }) => running],
  waiting: [Gauge, "Texts that wait for their turn and have not begun", ({ waiting }) => waiting],
  parked: [Gauge, "Texts that have begun and wait for their next turn", ({ parked }) => parked],
  preemptions: [Counter, "How often texts were parked so that others were generated", ({ preemptions }) => preemptions],
  cacheUse: [
    Gauge,
    "Cache of all texts and kept prompts, as a fraction of that of as many texts as run at once with the longest context",
    ({ cacheBytes, cacheCapacityBytes }) => cacheCapacityBytes && cacheBytes / cacheCapacityBytes,
  ],
};

const firstTokenTimes = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const tokenTimes = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** The two labels under which a model's name is given: ours, and vLLM's. */
const forms = [
  { prefix: "inferyard_", label: "model" },
  { prefix: "vllm:", label: "model_name" },
] as const;

/** Names of the metrics, ours and vLLM's. */
const names = {
  running: ["sequences_running", "num_requests_running"],
  waiting: ["sequences_waiting", "num_requests_waiting"],
  parked: ["sequences_parked", "num_requests_swapped"],
  preemptions: ["preemptions_total", "num_preemptions_total"],
  cacheUse: ["cache_usage_ratio", "kv_cache_usage_perc"],
  firstToken: ["time_to_first_token_seconds", "time_to_first_token_seconds"],
  perToken: ["time_per_token_seconds", "time_per_output_token_seconds"],
  prompt: ["prompt_tokens_total", "prompt_tokens_total"],
  cached: ["cached_prompt_tokens_total", "prefix_cache_hits_total"],
  generated: ["generated_tokens_total", "generation_tokens_total"],
  finished: ["texts_finished_total", "request_success_total"],
} as const;

/** Counts and times of texts. */
export class GenerationMetrics {
  readonly #observers: ((model: string, text: WrittenText) => void)[] = [];

  /** `getName`: the label of a model, by its reference. */
  constructor(registry: Registry, runtime: Runtime, nameOf: (reference: string) => string) {
    const total = { name: "inferyard_cache_bytes", help: "Bytes of cache of all texts and kept prompts", labelNames: ["model"] };
    addCollected(Gauge, { ...total, registers: [registry] }, (add) => {
      for (const { reference, cacheBytes } of runtime.sequences()) add({ model: nameOf(reference) }, cacheBytes);
    });
    for (const [form, { prefix, label }] of forms.entries()) {
      const named = (metric: keyof typeof names, help: string) => ({
        name: prefix + (names[metric][form] ?? ""),
        help,
        labelNames: [label],
        registers: [registry],
      });
      for (const [state, [Kind, help, read]] of Object.entries(states))
        addCollected(Kind, named(state as keyof typeof names, help), (add) => {
          for (const sequences of runtime.sequences()) {
            const value = read(sequences);
            if (value !== undefined) add({ [label]: nameOf(sequences.reference) }, value);
          }
        });
      const firstToken = new Histogram({ ...named("firstToken", "Time to the first token of a text"), buckets: firstTokenTimes });
      const perToken = new Histogram({ ...named("perToken", "Mean time of the further tokens of a text"), buckets: tokenTimes });
      const prompt = new Counter(named("prompt", "Tokens of prompts"));
      const cached = new Counter(named("cached", "Tokens of prompts that were computed for an earlier text"));
      const generated = new Counter(named("generated", "Tokens that models wrote"));
      const finished = new Counter({
        ...named("finished", "Texts that were finished, by why they ended"),
        labelNames: [label, "finished_reason"],
      });
      this.#observers.push((model, text) => {
        const { firstTokenMs, totalMs } = text.timings;
        const count = text.tokens.length;
        firstToken.observe({ [label]: model }, firstTokenMs / 1000);
        if (count > 1) perToken.observe({ [label]: model }, (totalMs - firstTokenMs) / 1000 / (count - 1));
        prompt.inc({ [label]: model }, text.promptTokens);
        cached.inc({ [label]: model }, text.cachedTokens);
        generated.inc({ [label]: model }, count);
        finished.inc({ [label]: model, finished_reason: text.finishReason });
      });
    }
  }

  /** Counts the texts of a call. */
  count(model: string, texts: readonly WrittenText[]): void {
    for (const text of texts) for (const observe of this.#observers) observe(model, text);
  }
}
