/** Buffers during planning: their sizes, and the steps that need them. */
import { InferyardError } from "../../contract/errors.ts";
import { elementCount } from "../../contract/tensor.ts";
import type { Graph, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
import type { TensorType } from "../ir/tensor-type.ts";
import { storageBytes } from "../lower/movement.ts";
import type { Lifetime } from "./arena-layout.ts";

/** A buffer during planning. `from` and `to` are the first and last step that need it. */
export interface PlannedBuffer {
  /** Size in bytes. */
  readonly bytes: number;
  from: number;
  to: number;
  /** Last step that uses any value stored here. A tensor and its reshapes share one buffer. */
  lastUse: number;
  constant?: Literal;
  /** Offset in its block, when the buffer is a state or a source. */
  readonly stateOffset?: number;
  /** Index of the block of the first sequence, when the buffer is a state or a source. */
  readonly firstBlock?: number;
}

/** The lifetime of a buffer in the arena. States are stored elsewhere: they get no bytes and never overlap another buffer. */
export function arenaLifetime({ bytes, from, to, stateOffset }: PlannedBuffer): Lifetime {
  return stateOffset === undefined ? { bytes, from, to } : { bytes: 0, from: -1, to: -1 };
}

/** Size of a value in engine memory in bytes; 0 for strings, which are elsewhere. */
export function valueBytes({ type }: Value): number {
  if (type.dataType === "string") return 0;
  return elementCount(type.shape) * storageBytes(type.dataType);
}

/** Whether a later value may overwrite the input in this buffer: nothing there is used after the step, and both have equally many elements of equal width. */
export function canOverwrite(buffer: PlannedBuffer, input: Value, output: Value, step: number): boolean {
  return (
    buffer.constant === undefined &&
    buffer.to <= step &&
    buffer.lastUse <= step &&
    storageBytes(input.type.dataType) === storageBytes(output.type.dataType) &&
    valueBytes(input) === valueBytes(output) &&
    buffer.bytes === valueBytes(output)
  );
}

/** The type of the part of a state or source that the block of one sequence holds. Throws MODEL_UNSUPPORTED where several share its axis 0. */
export function getTypeInBlock({ type }: Value, blocks = 1): TensorType {
  if (blocks === 1) return type;
  if (type.shape[0] === blocks) return { ...type, shape: type.shape.with(0, 1) };
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `a state of [${type.shape.join(", ")}] does not begin with the axis of the batch`,
  );
}

/** The last step that uses each value; graph outputs are used after the last step. */
export function getLastUse({ nodes, outputs }: Graph): ReadonlyMap<Value, number> {
  const last = new Map<Value, number>();
  for (const [step, { inputs }] of nodes.entries()) for (const input of inputs) last.set(input, step);
  for (const { value } of outputs) last.set(value, nodes.length);
  return last;
}
