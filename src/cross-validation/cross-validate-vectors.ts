/** Compares the vectors that a model gives for texts in two runs. */
import type { Runtime } from "../api/runtime.ts";
import { at, omitUndefined } from "../contract/checked.ts";
import { InferyardError, invalidInput } from "../contract/errors.ts";
import { compareVectors } from "./compare-vectors.ts";
import type {
  CrossValidationOptions,
  ComparedRun,
  VectorComparison,
  VectorCrossValidation,
  WorstValue,
} from "./cross-validation.ts";
import { runFacts } from "./loaded-language.ts";
import { referenceKind } from "./reference-kind.ts";
import { brokenLimits } from "./summarize.ts";

const defaultTexts = [
  "Once upon a time",
  "A cat sits on the mat.",
  "Der Zug fährt um neun.",
  "東京",
  "one two three ".repeat(20),
];

/** Compares the vectors. Throws as `crossValidate` does. */
export async function crossValidateVectors(runtime: Runtime, options: CrossValidationOptions): Promise<VectorCrossValidation> {
  const { model, variant, target, against, againstModel, againstVariant, texts = defaultTexts, signal } = options;
  for (const name of ["prompt", "tokens", "continuation", "record"] as const) {
    if (options[name] === undefined) continue;
    throw invalidInput(`${name} is given, and ${model} gives vectors of texts, which have none`, "give texts instead");
  }
  if (texts.length === 0) throw invalidInput("there are no texts", "give at least one");
  if ((await referenceKind(against)) !== "target") {
    throw invalidInput(
      `${against} is no target, and ${model} gives vectors, which are compared between targets`,
      "give a target such as onnx:cpu",
    );
  }
  const usualVariant = againstModel === undefined ? variant : undefined;
  const other = { model: againstModel ?? model, variant: againstVariant ?? usualVariant, target: against, signal };
  const reference = await toVectors(runtime, other, texts);
  const tested = await toVectors(runtime, { model, variant, target, signal }, texts);
  const comparisons = texts.map((text, index): VectorComparison => {
    const [ours, theirs] = [at(tested.vectors, index), at(reference.vectors, index)];
    requireSameLength(ours, theirs, [tested.facts, reference.facts]);
    const { maxError, cosine } = compareVectors(theirs, ours);
    return { text, maxError, cosine };
  });
  const worst = (name: "maxError" | "cosine", isWorse: (value: number, than: number) => boolean): WorstValue =>
    comparisons
      .map(({ [name]: value }, position) => ({ value, position }))
      .reduce((found, each) => (isWorse(each.value, found.value) ? each : found));
  const summary = {
    maxError: worst("maxError", (value, than) => value > than),
    cosine: {
      mean: comparisons.reduce((sum, { cosine }) => sum + cosine, 0) / comparisons.length,
      worst: worst("cosine", (value, than) => value < than),
    },
    speedRatio: reference.milliseconds / tested.milliseconds,
  };
  return {
    kind: "vectors",
    reference: reference.facts,
    tested: tested.facts,
    texts: comparisons,
    summary,
    failures: brokenLimits(options, summary, "text"),
  };
}

interface Vectors {
  readonly facts: ComparedRun;
  readonly vectors: readonly Float32Array[];
  readonly milliseconds: number;
}

/** Vectors of texts one by one, so that no vector depends on the others in its batch; the second of two passes is measured. */
async function toVectors(
  runtime: Runtime,
  placement: {
    readonly model: string;
    readonly variant: string | undefined;
    readonly target: string | readonly string[] | undefined;
    readonly signal: AbortSignal | undefined;
  },
  texts: readonly string[],
): Promise<Vectors> {
  const { model, variant, target, signal } = placement;
  const handle = await runtime.load(model, omitUndefined({ variant, target, signal }));
  try {
    const vectors: Float32Array[] = [];
    const embed = async (text: string): Promise<Float32Array> => {
      const { embeddings } = await runtime.embed([text], { model: handle, ...omitUndefined({ signal }) });
      return at(embeddings, 0);
    };
    for (const text of texts) vectors.push(await embed(text));
    const started = performance.now();
    for (const text of texts) await embed(text);
    const milliseconds = performance.now() - started;
    const facts = runFacts(handle);
    for (const [index, vector] of vectors.entries()) requireFinite(vector, index, facts);
    return { facts, vectors, milliseconds };
  } finally {
    await handle.dispose();
    await runtime.unloadIdle();
  }
}

function requireFinite(vector: Float32Array, text: number, { model, target }: ComparedRun): void {
  if (vector.every((value) => Number.isFinite(value))) return;
  throw new InferyardError("VERIFICATION_FAILED", `${model} on ${target}: the vector of text ${text} is not finite`, {
    remedy: "the engine computes this model wrongly: use another target",
  });
}

function requireSameLength(
  tested: Float32Array,
  reference: Float32Array,
  [ours, theirs]: readonly [ComparedRun, ComparedRun],
): void {
  if (tested.length === reference.length) return;
  throw invalidInput(
    `vectors of ${ours.model} have ${tested.length} components, and those of ${theirs.model} ${reference.length}`,
    "compare exports of the same model",
  );
}
