/** Generates the texts of one prompt by beam search. */
import type { SequenceId } from "../../contract/backend.ts";
import type { ReadPrompt, TextJob } from "./generate-text.ts";
import type { GeneratedText } from "./generated-text.ts";
import { type BeamSettings, BeamSearch } from "./sampling/beam-search.ts";
import type { DecodeScheduler } from "./decode-scheduler.ts";

/** A beam search. `index` is the position of the first text in the results. */
export interface BeamJob extends Omit<TextJob, "scheduler" | "choice"> {
  readonly scheduler: Pick<DecodeScheduler, "append" | "fork" | "release">;
  readonly beams: BeamSettings;
  /** Called with each sequence that is created; the caller releases the remaining ones. */
  readonly sequences: Set<SequenceId>;
}

/** Searches the best texts after a prompt, best first: `n` of them, or fewer if fewer were found. Throws as `generateText` does. */
export async function searchBeams(job: BeamJob, prompt: ReadPrompt): Promise<readonly GeneratedText[]> {
  const { beams, sampling, settings, index, emit } = job;
  const search = new BeamSearch(beams, sampling, prompt.tokens, prompt.source);
  let firstTokenMs = 0;
  let sequences: readonly SequenceId[] = [prompt.sequence];
  let logits: readonly Float32Array[] = [prompt.logits.slice()];
  for (;;) {
    const steps = search.advance(logits);
    if (firstTokenMs === 0) firstTokenMs = performance.now() - job.started;
    if (steps === undefined) break;
    sequences = await continued(
      job,
      sequences,
      steps.map(({ parent }) => parent),
    );
    logits = await Promise.all(steps.map(({ token }, beam) => job.scheduler.append(sequences[beam] ?? 0, [token], job.signal)));
  }
  const found = search.finished.slice(0, settings.n);
  const results = found.map(({ tokens }): GeneratedText => {
    const generated = tokens.slice(prompt.tokens.length);
    const last = generated.at(-1);
    const isEnded = last !== undefined && sampling.endTokens.includes(last);
    return {
      text: toText(job, isEnded ? generated.slice(0, -1) : generated),
      tokens: generated,
      finishReason: isEnded ? "stop" : "length",
      ...(isEnded ? { stop: last } : {}),
      promptTokens: prompt.source.length > 0 ? prompt.source.length : prompt.tokens.length,
      cachedTokens: prompt.cachedTokens,
      timings: { firstTokenMs, totalMs: performance.now() - job.started },
    };
  });
  for (const [place, result] of results.entries())
    await emit?.({ type: "finish", index: index + place, text: result.text, result });
  return results;
}

/** The sequences of the next step: each continues its parent, which is forked where it has several. Those that nothing continues are released. */
async function continued(
  { scheduler, sequences: known }: BeamJob,
  present: readonly SequenceId[],
  parents: readonly number[],
): Promise<readonly SequenceId[]> {
  const next = parents.map(async (parent, place) => {
    const sequence = present[parent] ?? 0;
    if (parents.indexOf(parent) === place) return sequence;
    const fork = await scheduler.fork(sequence);
    known.add(fork);
    return fork;
  });
  const sequences = await Promise.all(next);
  const unused = present.filter((_, place) => !parents.includes(place));
  for (const sequence of unused) known.delete(sequence);
  await Promise.all(unused.map((sequence) => scheduler.release(sequence)));
  return sequences;
}

function toText({ tokenizer, settings, before }: BeamJob, tokens: readonly number[]): string {
  if (tokenizer === undefined) return "";
  const { skipSpecialTokens } = settings;
  const continued = before === undefined ? [] : [before];
  const { length } = tokenizer.decode(continued, { skipSpecialTokens });
  return tokenizer.decode([...continued, ...tokens], { skipSpecialTokens }).slice(length);
}
