/**
 * Runs within the memory limit `maxRunMemory`. The memory of a run is estimated before it begins; a run that would exceed the
 * limit is split if the rows of the batch are independent, and refused otherwise.
 */
import { at } from "../../contract/checked.ts";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import type { HostedRunOptions, HostedTensorModel } from "../../hosts/host.ts";
import { checkInputs, refuseMalformedTensors, type TensorMap } from "../../contract/tensor.ts";
import { independentRows, joinParts, sliceOptions, sliceRows } from "./batch-split.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import { getVocabularySize, tokenInput } from "../../models/transformer-sizes.ts";
import { estimateRunMemory } from "./run-memory.ts";

type Run = HostedTensorModel["run"];

/** Limits of one run. Undefined: no limit. */
export interface RunBounds {
  /** Estimated bytes besides the weights. */
  readonly memory: number | undefined;
  /**
   * Maximum tokens of all rows. A run with more is split if its rows are independent, and otherwise runs whole. Default: no
   * limit.
   */
  readonly tokens?: number | undefined;
}

/**
 * Runs a model within bounds. Throws INPUT_INVALID for values that are not tensors and for a token id outside the model's vocabulary, and LIMIT_EXCEEDED (data:
 * `estimate`, `limit`) for a run that exceeds the memory limit and cannot be split; both before memory is allocated.
 */
export async function boundedRun(
  {
    model,
    variant,
    runMemory,
  }: Pick<VerifiedModel, "variant" | "runMemory"> & { readonly model: Pick<HostedTensorModel, "inputs" | "outputs"> },
  { memory: limit, tokens: maxTokens = Number.POSITIVE_INFINITY }: RunBounds,
  run: Run,
  inputs: TensorMap,
  options: HostedRunOptions,
): Promise<TensorMap> {
  refuseMalformedTensors(inputs);
  refuseUnknownTokenIds(getVocabularySize(variant.config), inputs);
  if (limit === undefined) return await run(inputs, options);
  const allowed = limit;
  checkInputs(model.inputs, inputs);
  const estimate = estimateRunMemory(runMemory, variant, inputs);
  const [, length = 1] = inputs[tokenInput]?.shape ?? [];
  const rowsByTokens = Math.max(1, Math.floor(maxTokens / Math.max(length, 1)));
  const rows = independentRows(inputs, model, options);
  if (rows !== undefined && rows > rowsByTokens) return await split(estimate);
  if (estimate <= limit || runMemory?.isBounded === true) return await runOrSplit(estimate);
  return await split(estimate);

  async function runOrSplit(expected: number): Promise<TensorMap> {
    try {
      return await run(inputs, options);
    } catch (error) {
      if (!(error instanceof InferyardError) || error.code !== "LIMIT_EXCEEDED") throw error;
      const { estimate: known } = error.data;
      return await split(typeof known === "number" ? known : expected, error);
    }
  }

  async function split(needed: number, cause?: InferyardError): Promise<TensorMap> {
    const together = rows === undefined ? 0 : Math.min(rowsByTokens, Math.floor((rows * allowed) / needed));
    if (rows === undefined || rows < 2 || together < 1) throw cause ?? tooLarge(needed, allowed, rows);
    const parts: TensorMap[] = [];
    const sizes: number[] = [];
    for (let start = 0; start < rows; start += together) {
      const end = Math.min(start + together, rows);
      const part = await run(sliceRows(inputs, start, end), sliceOptions(options, start, end));
      const joinedBytes = (getBytes(part) / (end - start)) * rows;
      if (joinedBytes > allowed) throw tooLarge(joinedBytes, allowed, rows); // the joined outputs alone exceed the limit
      parts.push(part);
      sizes.push(end - start);
    }
    const joined = joinParts(parts, sizes);
    if (joined !== undefined) return joined;
    if (cause === undefined && needed <= allowed) return await run(inputs, options); // its outputs do not have one row for each row of its inputs
    throw cause ?? tooLarge(needed, allowed, undefined);
  }
}

function getBytes(tensors: TensorMap): number {
  return Object.values(tensors).reduce(
    (sum, { data }) => sum + (ArrayBuffer.isView(data) ? data.byteLength : data.length * 8),
    0,
  );
}

function tooLarge(estimate: number, limit: number, rows: number | undefined): InferyardError {
  const why = rows === undefined ? "its rows depend on each other, so it is not split" : "it cannot be split any further";
  return new InferyardError(
    "LIMIT_EXCEEDED",
    `a run of these inputs takes about ${estimate} bytes, maxRunMemory allows ${limit}, and ${why}`,
    { remedy: "give fewer or shorter inputs at once, or set maxRunMemory higher", data: { estimate, limit } },
  );
}

/** A token id is an index into the embedding table. Some engines look it up without a bounds check. */
function refuseUnknownTokenIds(size: number | undefined, inputs: TensorMap): void {
  if (size === undefined) return;
  const data = inputs[tokenInput]?.data;
  const found =
    data instanceof BigInt64Array
      ? findUnknownInt64Id(data, size)
      : data instanceof Int32Array
        ? findUnknownInt32Id(data, size)
        : -1;
  if (found < 0) return;
  throw invalidInput(
    `${tokenInput} has ${String(data?.[found])} at element ${found}, and the model's token ids are 0 to ${size - 1}`,
    "use the tokenizer.json that belongs to this model",
    { element: found },
  );
}

/**
 * Reads each int64 as two uint32, low half first (every supported platform is little-endian), which avoids one bigint per
 * token.
 */
function findUnknownInt64Id(ids: BigInt64Array, size: number): number {
  const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  for (let index = 0; index < ids.length; index += 1)
    if (halves[2 * index + 1] !== 0 || at(halves, 2 * index) >= size) return index;
  return -1;
}

function findUnknownInt32Id(ids: Int32Array, size: number): number {
  return ids.findIndex((id) => id < 0 || id >= size);
}
