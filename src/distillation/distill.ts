/**
 * Distills an embedding model into static token embeddings. As in model2vec (Minish Lab), every token is embedded, and the vectors are reduced by principal component
 * analysis and weighted by frequency. The rows are then fitted to the model on plain text and quantized to 8 or 4 bits.
 */
import { at } from "../contract/checked.ts";
import { invalidInput, throwIfAborted } from "../contract/errors.ts";
import { resolveOptions } from "./distill-options.ts";
import type { DistillOptions, DistillReport, DistillSettings, InspectedStage } from "./distill-options.ts";
import { knownTokens, maxTokens, readTrainingTexts } from "./fit-text.ts";
import { fitRows } from "./fit.ts";
import { frequencyWeights } from "./frequency-weighting.ts";
import { getRow, toUnitLength } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { principalComponents } from "./principal-components.ts";
import { dequantizeRows, quantizeTable } from "./quantize.ts";
import { StageTimer } from "./stage-timer.ts";
import type { Teacher } from "./teacher.ts";
import { vocabularyVectors } from "./vocabulary-vectors.ts";
import type { VocabularyVectors } from "./vocabulary-vectors.ts";
import { discardStaging, openStaging, writeModel } from "./write-model.ts";
import type { Staging } from "./write-model.ts";

/**
 * Distills `teacher` and writes the model to the folder `options.output`. Throws INPUT_INVALID for impossible options or texts without known tokens, TOKENIZER_INVALID for an
 * empty vocabulary, RUN_FAILED if the teacher gives no usable vectors, OUTPUT_FAILED for errors of the file system, and ABORTED. No files are left after an error.
 */
export async function distill(teacher: Teacher, options: DistillOptions): Promise<DistillReport> {
  const settings = resolveOptions(teacher, options);
  throwIfAborted(settings.signal);
  const staging = await openStaging(settings.output, settings.replace);
  try {
    return await distillInto(staging, teacher, settings);
  } catch (error) {
    await discardStaging(staging);
    throw error;
  }
}

async function distillInto(staging: Staging, teacher: Teacher, settings: DistillSettings): Promise<DistillReport> {
  const { signal, dimensions, bits } = settings;
  const abortable = signal === undefined ? {} : { signal };
  const stages = new StageTimer(settings.onProgress);
  const found: Record<string, unknown> = {};
  const inspect = (stage: InspectedStage, rows: Matrix): void => {
    Object.assign(found, settings.inspect?.(stage, rows));
  };

  const vocabulary = await stages.time("vocabulary", (onProgress) => vocabularyVectors(teacher, { ...abortable, onProgress }));
  if (vocabulary.count <= dimensions) {
    throw invalidInput(
      `${vocabulary.count} tokens cannot span ${dimensions} dimensions`,
      "ask for fewer dimensions than there are tokens",
    );
  }
  const { rows, explainedVariance } = await stages.time("components", () => initialRows(vocabulary, dimensions, signal));
  inspect("components", rows);

  const fitted = { texts: 0, losses: [] as readonly number[] };
  if (settings.text !== undefined) {
    const lines = settings.text;
    const text = await stages.time("text", (onProgress) => readTrainingTexts(teacher, lines, { ...abortable, onProgress }));
    fitted.texts = text.tokens.length;
    fitted.losses = await stages.time("fit", (onProgress) => fitRows(rows, text, { ...settings, onProgress }));
    inspect("fit", rows);
  }

  const quantized = await stages.time("quantize", () => quantizeTable(rows, bits, signal));
  const exact = dequantizeRows(quantized);
  inspect("quantize", exact);
  await stages.time("write", () =>
    writeModel(staging, quantized, {
      ...settings,
      provenance: { ...settings.provenance, ...found },
      teacher: teacher.reference,
      tokenizerPath: teacher.tokenizerPath,
      maxTokens,
      answers: settings.answers.map((text) => ({ text, embedding: embed(teacher, exact, text) })),
    }),
  );
  return { tokens: vocabulary.count, dimensions, bits, explainedVariance, ...fitted, milliseconds: stages.milliseconds };
}

/** The principal components of the vocabulary vectors, weighted by the estimated frequency of each token. */
async function initialRows(
  { vectors, include, count }: VocabularyVectors,
  dimensions: number,
  signal: AbortSignal | undefined,
): Promise<{ rows: Matrix; explainedVariance: number }> {
  const { projected, explainedVariance } = await principalComponents(vectors, include, dimensions, signal);
  const weights = frequencyWeights(count);
  let rank = 0;
  for (const [id, flag] of include.entries()) {
    if (flag !== 1) continue;
    const weight = at(weights, rank++);
    const row = getRow(projected, id);
    for (const [i, value] of row.entries()) row[i] = value * weight;
  }
  return { rows: projected, explainedVariance };
}

/** The normalized vector that the distilled model gives for a text. The sum of the rows has the direction of their mean. */
function embed(teacher: Teacher, rows: Matrix, text: string): Float32Array {
  const sum = new Float64Array(rows.columns);
  for (const id of knownTokens(teacher, text)) {
    for (const [i, value] of getRow(rows, id).entries()) sum[i] = (sum[i] ?? 0) + value;
  }
  return toUnitLength(Float32Array.from(sum));
}
