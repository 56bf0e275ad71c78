/** What one rank computes of a graph: plain data that can be sent to another process. */
import type { Graph, Value } from "../../engine/ir/graph.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import type { Split } from "./sharding.ts";

/** How the ranks divide the work. */
export type Parallelism = "data-parallel" | "tensor-parallel" | "pipeline";

/** A value that all ranks get whole after a step: the joined parts, the sum of partial results, or what one rank has. */
export interface Collective {
  readonly kind:
    | { readonly name: "join"; readonly split: Split }
    | { readonly name: "sum" }
    | { readonly name: "copy"; readonly from: number };
  /** Name of this rank's part among the results of steps. It is not there on ranks that a copy is not from. */
  readonly source: string;
  readonly result: string;
  /** The type of the whole value. */
  readonly type: TensorType;
}

/** A graph that a rank computes by itself, and the values that the ranks exchange afterwards. Its inputs and outputs are results of earlier steps and of the program's inputs, by name. */
export interface RankStep {
  /** Undefined if the rank computes nothing in this step. */
  readonly graph: Graph | undefined;
  readonly collectives: readonly Collective[];
}

/** The constants of a rank's graphs that are large: each is kept once for all graphs of the program. */
export interface RankWeight {
  readonly value: Value;
  /** Equal for equal elements: a number of the whole constant, and the part of it. */
  readonly key: string;
}

/** What one rank computes of one graph. */
export interface RankPart {
  readonly steps: readonly RankStep[];
  /** Names of results of steps by the names of the graph's inputs. */
  readonly inputs: readonly { readonly name: string; readonly result: string }[];
  /** Names of results of steps by the names of the graph's outputs, whole on each rank. */
  readonly outputs: readonly { readonly name: string; readonly result: string }[];
  readonly weights: readonly RankWeight[];
}
