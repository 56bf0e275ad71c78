/** Buffers during planning: their sizes, and the steps that need them. */
import { elementCount } from "../../contract/tensor.ts";
import type { Graph, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";
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
  /** Offset in the state block, when the buffer is a state. */
  readonly stateOffset?: number;
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

/** The last step that uses each value; graph outputs are used after the last step. */
export function getLastUse({ nodes, outputs }: Graph): ReadonlyMap<Value, number> {
  const last = new Map<Value, number>();
  for (const [step, { inputs }] of nodes.entries()) for (const input of inputs) last.set(input, step);
  for (const { value } of outputs) last.set(value, nodes.length);
  return last;
}
