/** A page computes programs alone. Takes the place of src/programs/ranks/rank-options.ts and rank-device.ts. */
import { InferyardError } from "../../contract/errors.ts";
import type { rankedBackend as rankedInNode } from "../../programs/ranks/rank-device.ts";
import type { readRanks as readInNode, readWorldSize as readSizeInNode } from "../../programs/ranks/rank-options.ts";

function refuse(): never {
  throw new InferyardError("NOT_BUILT", "a page starts no other processes: worldSize, rank and parallelism have no effect here", {
    remedy: "leave them out",
  });
}

/** Undefined. Throws NOT_BUILT for options of ranks. */
export const readRanks: typeof readInNode = (_program, { worldSize = 1, rank, parallelism }) =>
  worldSize === 1 && rank === undefined && parallelism === undefined ? undefined : refuse();

/** Throws NOT_BUILT. */
export const readWorldSize: typeof readSizeInNode = refuse;
/** Throws NOT_BUILT. */
export const rankedBackend: typeof rankedInNode = refuse;
