/** Temporaries that nodes compute of one value alone, such as quantized activations, which later nodes of the same value use. */
import { at, required } from "../../contract/checked.ts";
import type { Value } from "../ir/graph.ts";
import type { LoweredNode } from "../lower/lowered-node.ts";
import type { DraftStep } from "./draft-steps.ts";
import type { PlannedBuffer } from "./planned-buffers.ts";

/** Finds the results that earlier nodes have left: see `LoweredNode.prepares`. */
export class PreparedTemporaries {
  readonly #buffers: readonly PlannedBuffer[];
  readonly #add: (bytes: number, step: number) => number;
  /** Indices of buffers by the value and the key of the kernel. */
  readonly #known = new Map<Value, Map<string, number>>();

  /** `add` adds a buffer to `buffers` and returns its index. */
  constructor(buffers: readonly PlannedBuffer[], add: (bytes: number, step: number) => number) {
    this.#buffers = buffers;
    this.#add = add;
  }

  /** The calls and temporaries of a node at a step, without a first call whose result is there. */
  assign(
    { calls, temporaries = [], prepares }: LoweredNode,
    step: number,
  ): Pick<LoweredNode, "calls"> & Pick<DraftStep, "temporaries"> {
    const [first] = calls;
    const key = first === undefined || "host" in first ? undefined : first.kernel.key;
    const known = prepares && this.#known.get(prepares);
    const earlier = key === undefined ? undefined : known?.get(key);
    const own = temporaries.map((bytes, index) => (index === 0 && earlier !== undefined ? earlier : this.#add(bytes, step)));
    if (prepares === undefined || key === undefined) return { calls, temporaries: own };
    if (earlier === undefined) {
      this.#known.set(prepares, new Map([...(known ?? []), [key, required(own[0], "the temporary that a node prepares")]]));
      return { calls, temporaries: own };
    }
    const buffer = at(this.#buffers, earlier);
    buffer.to = Math.max(buffer.to, step);
    return { calls: calls.slice(1), temporaries: own };
  }
}
