/** Runs that stay within `maxRunMemory`: estimated before they begin, split where the rows of a batch are independent, refused where they are not. */
import { InferyardError } from "../../errors.ts";
import type { HostedModel, HostedRunOptions } from "../../hosts/host.ts";
import { checkInputs, type TensorMap } from "../../tensor.ts";
import { independentRows, joinParts, sliceOptions, sliceRows } from "./batch-split.ts";
import type { VerifiedModel } from "../loading/loading.ts";
import { estimateRunMemory } from "./run-memory.ts";

type Run = HostedModel["run"];

/** What one run may take; what is left out is not limited. */
export interface RunBounds {
  /** Bytes beside the weights, by an estimate. */
  readonly memory: number | undefined;
  /** Tokens in all rows. A longer run is split where its rows are independent, and runs whole where they are not. */
  readonly tokens?: number | undefined;
}

/**
 * INPUT_INVALID for a token id that the model's vocabulary does not hold, and LIMIT_EXCEEDED with `estimate` and `limit` for a run that takes more
 * memory than it may and cannot be split; both before anything is allocated. Without a limit a run takes what it takes.
 */
export async function boundedRun(
  { model, variant, target }: Pick<VerifiedModel, "model" | "variant" | "target">,
  { memory: limit, tokens: maxTokens = Number.POSITIVE_INFINITY }: RunBounds,
  run: Run,
  inputs: TensorMap,
  options: HostedRunOptions,
): Promise<TensorMap> {
  refuseUnknownTokenIds(variant.config, inputs);
  if (limit === undefined) return await run(inputs, options);
  checkInputs(model.inputs, inputs);
  const { config, architecture } = variant;
  const estimate = estimateRunMemory(target.backend, config, architecture, inputs);
  const [, length = 1] = inputs["input_ids"]?.shape ?? [];
  const rowsByTokens = Math.max(1, Math.floor(maxTokens / Math.max(length, 1)));
  const rows = independentRows(inputs, model, options);
  if (rows !== undefined && rows > rowsByTokens) return await split(estimate);
  // Our own engine knows what a program takes before it runs, and refuses by itself.
  if (estimate <= limit || target.backend === "native") return await runOrSplit(estimate);
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
    const together = rows === undefined ? 0 : Math.min(rowsByTokens, Math.floor((rows * (limit ?? 0)) / needed));
    if (rows === undefined || rows < 2 || together < 1) throw cause ?? tooLarge(needed, limit ?? 0, rows);
    const parts: TensorMap[] = [];
    const sizes: number[] = [];
    for (let start = 0; start < rows; start += together) {
      const end = Math.min(start + together, rows);
      const part = await run(sliceRows(inputs, start, end), sliceOptions(options, start, end));
      const joinedBytes = (bytesOf(part) / (end - start)) * rows;
      if (joinedBytes > (limit ?? 0)) throw tooLarge(joinedBytes, limit ?? 0, rows); // its outputs alone
      parts.push(part);
      sizes.push(end - start);
    }
    const joined = joinParts(parts, sizes);
    if (joined !== undefined) return joined;
    if (cause === undefined && needed <= (limit ?? 0)) return await run(inputs, options); // its outputs do not have a row for each row of its inputs
    throw cause ?? tooLarge(needed, limit ?? 0, undefined);
  }
}

function bytesOf(tensors: TensorMap): number {
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

/** A token id is an index of the model's table of embeddings: engines look it up, some without a check. */
function refuseUnknownTokenIds({ vocab_size: size }: Readonly<Record<string, unknown>>, inputs: TensorMap): void {
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 1) return;
  const data = inputs["input_ids"]?.data;
  const found =
    data instanceof BigInt64Array
      ? findUnknownInt64Id(data, size)
      : data instanceof Int32Array
        ? findUnknownInt32Id(data, size)
        : -1;
  if (found < 0) return;
  throw new InferyardError(
    "INPUT_INVALID",
    `input_ids has ${String(data?.[found])} at element ${found}, and the model's token ids are 0 to ${size - 1}`,
    {
      remedy: "use the tokenizer.json that belongs to this model",
      data: { element: found },
    },
  );
}

/** Pairs of int32, low half first (every supported platform is little-endian): no bigint is made for each token. */
function findUnknownInt64Id(ids: BigInt64Array, size: number): number {
  const halves = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  for (let at = 0; at < ids.length; at += 1) if (halves[2 * at + 1] !== 0 || (halves[2 * at] ?? 0) >= size) return at;
  return -1;
}

function findUnknownInt32Id(ids: Int32Array, size: number): number {
  return ids.findIndex((id) => id < 0 || id >= size);
}
