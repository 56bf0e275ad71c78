/** What `inferyard bench` measures of one target. */
import type { Runtime } from "../create-runtime.ts";

export interface Measurement {
  /** From nothing to verified. */
  readonly loadMs: number;
  /** One short text, median. */
  readonly latencyMs: number;
  /** Mixed texts in one call, best of two. */
  readonly textsPerSecond: number;
  readonly tokensPerSecond: number;
  /** Resident memory at the end, less what the process had before loading. */
  readonly memoryBytes: number;
}

const shortText = "A cat sits on the mat and watches the rain.";
const phrase = "the quick brown fox jumps over a lazy dog while seven wizards box near the old stone bridge ";
const latencyRuns = 30;
const bulkTexts = 256;

/** 8 to 200 words or so, shuffled by a fixed rule: the same texts at every call. */
function mixedTexts(): string[] {
  return Array.from({ length: bulkTexts }, (_text, index) => phrase.repeat(1 + ((index * 7) % 11)).slice(index % 40));
}

export async function measureTarget(runtime: Runtime, model: string, target: string, variant?: string): Promise<Measurement> {
  const before = process.memoryUsage().rss;
  const started = performance.now();
  const handle = await runtime.load(model, {
    ...(target === "" ? {} : { target }),
    ...(variant === undefined ? {} : { variant }),
  });
  const loadMs = performance.now() - started;
  const times: number[] = [];
  for (let run = 0; run < latencyRuns; run += 1) times.push((await runtime.embed(shortText, { model: handle })).milliseconds);
  const texts = mixedTexts();
  const bulks = [await runtime.embed(texts, { model: handle }), await runtime.embed(texts, { model: handle })];
  const seconds = Math.min(...bulks.map(({ milliseconds }) => milliseconds)) / 1000;
  const tokens = bulks[0]?.tokens.reduce((sum, count) => sum + count, 0) ?? 0;
  const memoryBytes = process.memoryUsage().rss - before;
  await handle.dispose();
  return {
    loadMs,
    latencyMs: median(times),
    textsPerSecond: texts.length / seconds,
    tokensPerSecond: tokens / seconds,
    memoryBytes,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
