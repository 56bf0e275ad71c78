/** Runs a loaded model once for each shape, so that its backend compiles the programs and keeps them on disk. */
import { invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { DecodeStep, SequenceId, SequenceOptions } from "../../contract/backend.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { cacheCapacities, coarseSizes } from "../../engine/index.ts";
import { filledInputs } from "../../measuring/kinds/tensor-inputs.ts";
import type { ModelHandle } from "../../runtime/model-handle.ts";

/** A shape to compile for: rows of a batch, and tokens of each. */
export interface CompiledShape {
  readonly batch: number;
  /** Absent: the model's inputs have no length. */
  readonly sequence?: number;
}

/** The model, and the shapes to compile it for. */
export interface CompileRequest {
  /** Shapes of a model from tensors to tensors. Default: 1x16 and 1x128 for a model whose inputs have a length, else 1. */
  readonly shapes: readonly CompiledShape[] | undefined;
  /** Maximum number of tokens of a sequence of a language model. Default: 512, or the model's context if that is shorter. */
  readonly context: number | undefined;
  /** Number of sequences that a language model decodes together. Default: 1. */
  readonly sequences: number | undefined;
  readonly signal: AbortSignal;
}

/** A run that makes the backend compile the programs of a shape. */
export interface PlannedRun {
  /** The shape as the user wrote it, such as "3x100". */
  readonly shape: string;
  run(): Promise<void>;
}

const textShapes: readonly CompiledShape[] = [
  { batch: 1, sequence: 16 },
  { batch: 1, sequence: 128 },
];
const defaultContext = 512;
/** Tokens of the source of a model with an encoder. */
const sourceTokens = 16;

/** The runs that compile the programs of a loaded model. Throws INPUT_INVALID for shapes that the model does not have. */
export function plannedRuns(handle: ModelHandle, request: CompileRequest): readonly PlannedRun[] {
  return handle.kind === "language" ? decodingRuns(handle, request) : tensorRuns(handle, request);
}

function tensorRuns(handle: ModelHandle, { shapes, context, sequences, signal }: CompileRequest): readonly PlannedRun[] {
  if (context !== undefined || sequences !== undefined) {
    const flag = context === undefined ? "--sequences" : "--context";
    throw invalidInput(`${flag} is for language models, and this model decodes no tokens`, "use --shapes");
  }
  const config = handle.manifest.variants[0]?.config ?? {};
  const inputsFor = ({ batch, sequence = 1 }: CompiledShape): TensorMap =>
    filledInputs(handle.inputs, config, { batch, length: sequence, values: 0 });
  const shapesFor = (shape: CompiledShape): string => String(Object.values(inputsFor(shape)).map((tensor) => tensor.shape));
  const hasLength = shapesFor({ batch: 1, sequence: 1 }) !== shapesFor({ batch: 1, sequence: 2 });
  const isFixed = !hasLength && shapesFor({ batch: 1 }) === shapesFor({ batch: 2 });
  if (isFixed && shapes !== undefined) throw invalidInput("the inputs of this model have one shape", "leave --shapes out");
  if (hasLength && shapes === undefined && !handle.inputs.some(({ dataType }) => dataType.startsWith("int")))
    throw invalidInput("this model has no usual shapes", "name them: --shapes 1x16000 is a row of 16000 elements");
  const chosen = shapes ?? (hasLength ? textShapes : [{ batch: 1 }]);
  const given = chosen.find(({ sequence }) => (sequence === undefined) === hasLength);
  if (given !== undefined)
    throw invalidInput(
      hasLength
        ? `the shape ${given.batch} has no length, and the inputs of this model have one`
        : `the shape ${getName(given)} has a length, and the inputs of this model have none`,
      hasLength ? "write --shapes 1x16,32x128: rows x tokens" : "write --shapes 1,8: rows alone",
    );
  return chosen.map((shape) => ({
    shape: isFixed ? "fixed" : getName(shape),
    async run() {
      await handle.run(inputsFor(shape), { signal });
    },
  }));
}

/**
 * For each capacity that the cache of a sequence has as it grows: a prompt that fills it but for one token, and the last token. The next token moves the
 * sequence to the next capacity.
 */
function decodingRuns(
  { decision, language }: ModelHandle,
  { shapes, context, sequences = 1, signal }: CompileRequest,
): readonly PlannedRun[] {
  if (shapes !== undefined)
    throw invalidInput("--shapes is for models that take whole texts, and this one decodes tokens", "use --context");
  if (decision.model.format === "onnx" && language.limits.hasEncoder) {
    const reason =
      "an ONNX model with an encoder passes caches that grow with each token, so that XLA compiles a program for each length";
    throw unsupportedModel(reason, "use the safetensors of the model, if it has them");
  }
  const limit = language.limits.contextLength ?? Number.POSITIVE_INFINITY;
  if (context !== undefined && context > limit)
    throw invalidInput(`the context of this model has ${limit} tokens`, "ask for fewer");
  const maxTokens = Math.min(context ?? defaultContext, limit);
  const capacities = cacheCapacities(maxTokens, coarseSizes).map((capacity) => Math.min(capacity, limit));
  return capacities.map((capacity, index) => ({
    shape: `context ${capacity}`,
    async run() {
      const source = getSource(language.limits);
      const sequence = await language.createSequence({ ...source, signal });
      const decode = async (count: number): Promise<void> => {
        const step: DecodeStep = { sequence, tokens: tokens(count) };
        await language.decode([step], { signal });
      };
      try {
        if (capacity > 1) await decode(capacity - 1);
        await decodeTogether(language, sequence, { sequences, signal });
        if (index < capacities.length - 1) await decode(1);
      } finally {
        await language.releaseSequence(sequence);
      }
    },
  }));
}

/** What the encoder reads, for a model that has one. */
function getSource({ features, hasEncoder }: ModelHandle["language"]["limits"]): Pick<SequenceOptions, "source" | "features"> {
  if (features !== undefined) return { features: new Float32Array(features.bins * features.frames) };
  return hasEncoder ? { source: tokens(sourceTokens) } : {};
}

/** Appends a token to a sequence: alone, and in runs with copies of it of every size up to `sequences`, for each of which there is a program. */
async function decodeTogether(
  language: ModelHandle["language"],
  sequence: SequenceId,
  { sequences, signal }: { readonly sequences: number; readonly signal: AbortSignal },
): Promise<void> {
  const { batches } = coarseSizes;
  const counts = batches.filter((_batch, index) => index > 0 && (batches[index - 1] ?? 0) < sequences);
  for (const count of counts) {
    const copies: SequenceId[] = [];
    try {
      for (let copy = 0; copy < Math.min(count, sequences); copy += 1) copies.push(await language.forkSequence(sequence));
      await language.decode(
        copies.map((each) => ({ sequence: each, tokens: tokens(1) })),
        { signal },
      );
    } finally {
      for (const copy of copies) await language.releaseSequence(copy);
    }
  }
  await language.decode([{ sequence, tokens: tokens(1) }], { signal });
}

/** Ids of so many tokens; every vocabulary has the first one. */
function tokens(count: number): readonly number[] {
  return Array.from({ length: count }, () => 0);
}

function getName({ batch, sequence }: CompiledShape): string {
  return sequence === undefined ? String(batch) : `${batch}x${sequence}`;
}
