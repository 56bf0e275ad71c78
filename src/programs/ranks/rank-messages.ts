/** What rank 0 tells ranks that it has started. */
import type { Tensor } from "../../contract/tensor.ts";
import type { DeviceSettings } from "../interface/program-backend.ts";
import type { GroupMessage } from "./rank-group.ts";
import type { RankPart } from "./rank-part.ts";

/** Where a rank finds its group, and the device that it opens. */
export interface RankStart {
  readonly kind: "start";
  readonly rank: number;
  readonly size: number;
  /** See `ExchangeFile.path`. */
  readonly path: string;
  readonly chunkBytes: number;
  /** Name of a backend of this package. */
  readonly backend: string;
  readonly settings: Omit<DeviceSettings, "weights">;
}

/** Changes of the buffers that all ranks have, by number. */
export interface BufferChanges {
  readonly written: readonly { readonly buffer: number; readonly tensor: Tensor }[];
  readonly freed: readonly number[];
}

/** What a rank does next. It does the same as rank 0, and answers through exchanges alone. */
export type RankCommand =
  | { readonly kind: "open" }
  /** `tag`: see `RankExecutor.compile`. */
  | { readonly kind: "compile"; readonly graph: number; readonly tag: string; readonly part: RankPart }
  | {
      readonly kind: "run";
      readonly graph: number;
      readonly changes: BufferChanges;
      /** Numbers of buffers by the names of the graph's inputs and outputs. */
      readonly inputs: readonly (readonly [name: string, buffer: number])[];
      readonly outputs: readonly (readonly [name: string, buffer: number])[];
    }
  | { readonly kind: "dispose"; readonly graph: number };

/** Messages to a rank that was started. */
export type RankMessage = RankStart | RankCommand | GroupMessage;
