/** Which ranks compute a program, from the options of its compilation and the environment. */
import { availableParallelism } from "node:os";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { freeDimensions, type Program } from "../definition/program.ts";
import type { ProgramMode } from "../interface/program-backend.ts";
import { joinRanks } from "./join-ranks.ts";
import type { RankSettings } from "./rank-device.ts";
import type { Parallelism } from "./rank-part.ts";
import { startRanks } from "./start-ranks.ts";

/** Options of programs that several processes compute together. */
export interface RankOptions {
  /**
   * Number of processes on this machine that compute the program together, this one included. Default: what WORLD_SIZE says if `parallelism` or `rank` is given, else 1. Above 1, this process starts the
   * others, unless `rank` or RANK says that all are started already.
   */
  readonly worldSize?: number | undefined;
  /** Number of this process, from 0, if all ranks run this program. Default: what RANK says. */
  readonly rank?: number | undefined;
  /**
   * How the work is divided. "data-parallel": each rank computes a part of the batch. "tensor-parallel": each rank computes a part of the matrix products, with a part of their weights. "pipeline": each
   * rank computes some of the operations, one rank after the other, with their weights. Default: "data-parallel" in the mode "throughput", else "tensor-parallel".
   */
  readonly parallelism?: Parallelism | undefined;
  /** The free dimension that "data-parallel" divides. Default: the first dimension of the first input, and of all inputs with the same one. */
  readonly batch?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const parallelisms: readonly Parallelism[] = ["data-parallel", "tensor-parallel", "pipeline"];
/** More processes than this on one machine are a mistake. */
const maxRanks = 256;

/** The ranks of a program; undefined if it is computed in this process alone. Throws INPUT_INVALID for options that do not fit, and CONFIG_INVALID for an environment that does not. */
export function readRanks(
  program: Program,
  options: RankOptions,
  mode: ProgramMode,
  environment: Environment,
): RankSettings | undefined {
  const { parallelism = mode === "throughput" ? "data-parallel" : "tensor-parallel", batch } = options;
  const { size, rank } = readWorldSize(options, environment);
  if (!parallelisms.includes(parallelism))
    throw invalidInput(`parallelism is ${JSON.stringify(parallelism)}, and must be one of ${parallelisms.join(", ")}`);
  if (batch !== undefined && !freeDimensions(program).includes(batch))
    throw invalidInput(
      `batch is ${JSON.stringify(batch)}, which is no free dimension`,
      `it has ${freeDimensions(program).join(", ") || "none"}`,
    );
  if (size === 1) return undefined;
  const name = [
    environment["MASTER_ADDR"] ?? "localhost",
    environment["MASTER_PORT"] ?? "29500",
    environment["TORCHELASTIC_RUN_ID"] ?? "",
    environment["TORCHELASTIC_RESTART_COUNT"] ?? "",
  ].join("-");
  return {
    ranks: size,
    parallelism,
    batchAxes: findBatchAxes(program, batch),
    startsRanks: rank === undefined,
    join: async (backend, { threads, ...settings }) => {
      const own = { ...settings, threads: threads ?? Math.max(1, Math.floor(availableParallelism() / size)) };
      if (rank === undefined) return await startRanks(size, backend, own);
      return await joinRanks({
        rank,
        size,
        name,
        backend: [backend, ...(settings.qualifier === undefined ? [] : [settings.qualifier])].join(":"),
      });
    },
  };
}

/** How many ranks there are. */
export interface WorldSize {
  readonly size: number;
  /** Undefined if this process starts the others. */
  readonly rank: number | undefined;
}

/** The number of ranks and the number of this one. Throws INPUT_INVALID for numbers out of range, CONFIG_INVALID and NOT_BUILT. */
export function readWorldSize({ worldSize, rank: ownRank, parallelism }: RankOptions, environment: Environment): WorldSize {
  if (worldSize !== undefined && !(Number.isSafeInteger(worldSize) && worldSize >= 1 && worldSize <= maxRanks))
    throw invalidInput(`worldSize is ${worldSize}, and must be a whole number from 1 to ${maxRanks}`);
  if (worldSize === undefined && ownRank === undefined && parallelism === undefined) return { size: 1, rank: undefined };
  const stated = readNumber(environment, "WORLD_SIZE");
  const statedRank = stated === undefined ? undefined : readNumber(environment, "RANK");
  const local = readNumber(environment, "LOCAL_WORLD_SIZE");
  const size = worldSize ?? stated;
  if (size === undefined)
    throw invalidInput("the number of ranks is not known", "give worldSize, or start the program with WORLD_SIZE and RANK");
  const rank = ownRank ?? (size === 1 ? undefined : statedRank);
  if (rank !== undefined && !(Number.isSafeInteger(rank) && rank >= 0 && rank < size))
    throw invalidInput(`rank is ${rank}, and must be a whole number from 0 to ${size - 1}`);
  if (size === 1) return { size, rank };
  if (rank !== undefined && stated !== undefined && stated !== size)
    throw invalidInput(`worldSize is ${size}, and WORLD_SIZE is ${stated}`, "give one of them");
  if (rank !== undefined && statedRank !== undefined && statedRank !== rank)
    throw invalidInput(`rank is ${rank}, and RANK is ${statedRank}`, "give one of them");
  if (rank !== undefined && local !== undefined && local !== size)
    throw new InferyardError(
      "NOT_BUILT",
      `${local} of ${size} ranks are on this machine, and ranks of several machines are not built`,
    );
  return { size, rank };
}

function readNumber(environment: Environment, name: string): number | undefined {
  const text = environment[name];
  if (text === undefined || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new InferyardError("CONFIG_INVALID", `${name} is "${text}", and must be a whole number`);
}

/** The axes of inputs that have the dimension of the batch, by the name of the input. */
function findBatchAxes({ inputs }: Program, batch: string | undefined): ReadonlyMap<string, number> {
  const dimension = batch ?? inputs.find(({ shape }) => shape.length > 0)?.shape[0];
  if (dimension === undefined) return new Map();
  return new Map(
    inputs.flatMap(({ name, shape }): [string, number][] => {
      const axis = typeof dimension === "string" ? shape.indexOf(dimension) : shape[0] === dimension ? 0 : -1;
      return axis < 0 ? [] : [[name, axis]];
    }),
  );
}
