/** Serializes long responses as JSON in pieces, so that none blocks the event loop. */
import type { Context } from "hono";
import { throwIfAborted } from "../../contract/errors.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { createYielder } from "../../tasks/encoding/yielding.ts";
import { type Env, resultHeaders } from "./context.ts";

/** Numbers that are serialized together: about a millisecond of work. */
const sliceNumbers = 4096;
/** Characters that are encoded to UTF-8 together. */
const blockCharacters = 65_536;

/** A response with the result of a call as JSON, and the headers of the call. Typed arrays are written like arrays. */
export async function jsonResponse(
  context: Context<Env>,
  body: unknown,
  outcome: Parameters<typeof resultHeaders>[0],
): Promise<Response> {
  const bytes = await encodeJson(body, context.req.raw.signal);
  return context.body(bytes, 200, { ...resultHeaders(outcome), "content-type": "application/json" });
}

/**
 * The value as JSON in UTF-8, equal to the result of JSON.stringify. Yields to the event loop between blocks. Throws ABORTED between two blocks once the signal
 * is aborted.
 */
export async function encodeJson(value: unknown, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new GrowingBytes();
  const rest = createYielder();
  let block = "";
  for (const piece of getPieces(value)) {
    block += piece;
    if (block.length < blockCharacters) continue;
    bytes.append(block);
    block = "";
    await rest();
    throwIfAborted(signal);
  }
  bytes.append(block);
  return bytes.all();
}

/** The text that JSON.stringify writes, in pieces. */
function* getPieces(value: unknown): Generator<string> {
  if (isNumbers(value)) yield* numbersPieces(value);
  else if (Array.isArray(value)) {
    yield "[";
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ",";
      yield* getPieces(item ?? null);
    }
    yield "]";
  } else if (typeof value === "object" && value !== null && !isFlat(value)) {
    yield "{";
    let isFirst = true;
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${isFirst ? "" : ","}${JSON.stringify(name)}:`;
      isFirst = false;
      yield* getPieces(member);
    }
    yield "}";
  } else yield JSON.stringify(value);
}

/** Whether an object contains no arrays or objects; it is written as one piece. */
function isFlat(value: object): boolean {
  return Object.values(value).every((member) => typeof member !== "object" || member === null);
}

type Numbers = readonly number[] | Float32Array;

function isNumbers(value: unknown): value is Numbers {
  return value instanceof Float32Array || (Array.isArray(value) && typeof value[0] === "number");
}

function* numbersPieces(numbers: Numbers): Generator<string> {
  yield "[";
  for (let start = 0; start < numbers.length; start += sliceNumbers) {
    const slice = JSON.stringify(toArray(numbers, start, Math.min(start + sliceNumbers, numbers.length))).slice(1, -1);
    yield start === 0 ? slice : `,${slice}`;
  }
  yield "]";
}

/** A loop: `Array.from` makes an object for each number of a typed array. */
function toArray(numbers: Numbers, start: number, end: number): readonly number[] {
  if (!(numbers instanceof Float32Array)) return numbers.slice(start, end);
  const array: number[] = [];
  for (let index = start; index < end; index += 1) array.push(numbers[index] ?? 0);
  return array;
}
