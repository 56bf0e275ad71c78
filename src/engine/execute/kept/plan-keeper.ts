/** Collects what processes that come later need of a model's plans, while it is compiled. */
import { elementCount } from "../../../contract/tensor.ts";
import { byteSize } from "../../ir/tensor-type.ts";
import type { Literal } from "../../ir/literal.ts";
import type { EngineMemory, PackedLocation } from "../../memory/engine-memory.ts";
import type { Plan } from "../../plan/plan.ts";
import type { PackedWeights } from "../../lower/lowered-node.ts";
import { isTensor } from "../../build/traced-value.ts";
import type { ConstantFoldingCache } from "../../build/constant-folding-cache.ts";
import type { CompiledGraph } from "../graph-compiler.ts";
import type { CountedStep } from "../executable.ts";
import type { Segment } from "../segments/segment.ts";
import { keepExecutable, keepInterface, keepOrReason } from "./keep-plan.ts";
import { describeInputTypes, type KeptKernels, type KeptPlan, type KeptWeightsTable } from "./kept-plan.ts";

/** Plans that are collected of one model in a process. */
const maxPlans = 16;

/** What the keeper asks of the compiler. */
export interface KeeperContext {
  readonly memory: EngineMemory;
  readonly cache: ConstantFoldingCache;
  getId(step: CountedStep): string;
  /** Names of the checks that the functions of a plan have passed; undefined where one has no check that is remembered. */
  checksOf(plan: Plan): readonly string[] | undefined;
}

/** Collects the plans and kernels of one model. */
export class PlanKeeper {
  readonly #plans = new Map<CompiledGraph, Plan>();
  readonly #kernels = new Map<string, KeptKernels>();

  #count = 0;
  /** Kernels and plans that came since plans were last taken. */
  #isChanged = false;

  /** Whether there are plans that were not taken, and that may have become complete since. */
  get hasPlans(): boolean {
    return this.#isChanged && this.#plans.size > 0;
  }

  /** Records the plan of an executable. */
  addPlan(executable: CompiledGraph, plan: Plan): void {
    if (this.#count >= maxPlans) return;
    this.#count += 1;
    this.#isChanged = true;
    this.#plans.set(executable, plan);
  }

  /** Records kernels that were compiled together. */
  addKernels(kernels: KeptKernels): void {
    this.#isChanged = true;
    for (const key of kernels.keys) this.#kernels.set(key, kernels);
  }

  /**
   * The plan of a segment as plain data, or why it is not kept: a clause. It is forgotten afterwards, unless kernels of it are not compiled yet. Undefined: it was taken
   * before, or was not recorded.
   */
  take(segment: Segment, { memory, cache, getId, checksOf }: KeeperContext): KeptPlan | string | undefined {
    this.#isChanged = false;
    const { executable, traced } = segment;
    const plan = executable && this.#plans.get(executable);
    if (executable === undefined || plan === undefined) return undefined;
    if (plan.steps.some((step) => step.kind === "kernel" && !this.#kernels.has(step.kernel.key))) return undefined; // it has not run
    this.#plans.delete(executable);
    const checks = checksOf(plan);
    if (checks === undefined) return "some of its kernels have no checks that are remembered";
    return keepOrReason(() => ({
      ...keepExecutable(plan, {
        getTensor: (literal) => cache.getId(literal),
        read: (weights) => memory.viewPacked(findLocation(memory, weights)),
        getId,
        compiledWith: (key) => this.#kernels.get(key),
      }),
      ...keepInterface(traced),
      inputTypes: describeInputTypes(
        [...traced.inputs].flatMap(([name, value]) => (isTensor(value) ? [[name, value.type]] : [])),
      ),
      // As `SegmentTree` checks it.
      runBytes:
        segment.arenaBytes +
        [...[...traced.inputs.values()].filter(isTensor), ...traced.graphOutputs].reduce(
          (sum, { type }) => sum + byteSize(type),
          0,
        ),
      checks,
    }));
  }
}

/** What was collected. */
export interface TakenPlans {
  readonly plans: readonly KeptPlan[];
  /** Why other plans are not kept: clauses. */
  readonly problems: readonly string[];
  /** What all plans of the model share. */
  table(): KeptWeightsTable;
  /** The packed data of the table, in its order, without copies: valid until the memory grows. */
  readWeights(table: KeptWeightsTable): Iterable<Uint8Array>;
}

/** Takes the plans of segments out of a keeper. `weights`: data types and shapes of the model's own tensors. */
export function takePlans(
  keeper: PlanKeeper,
  segments: readonly Segment[],
  weights: readonly string[],
  context: KeeperContext,
): TakenPlans {
  const taken = segments.map((segment) => keeper.take(segment, context));
  return {
    plans: taken.filter((each) => typeof each === "object"),
    problems: taken.filter((each) => typeof each === "string"),
    table: () => keepWeights(weights, context),
    readWeights: ({ packed }) => packed.map(({ location }) => context.memory.viewPacked(location)),
  };
}

function keepWeights(weights: readonly string[], { memory, cache }: KeeperContext): KeptWeightsTable {
  const packed = [...cache.literalsById].flatMap(([tensor, literal]) =>
    memory.packedLocations(literal).map((location) => ({ tensor, location })),
  );
  return { weights, folds: cache.snapshot, packed: packed.toSorted((a, b) => a.location.start - b.location.start) };
}

function findLocation(memory: EngineMemory, { source, layout }: PackedWeights): PackedLocation {
  const found = memory.packedLocations(source).find((location) => location.layout === layout);
  if (found !== undefined) return found;
  throw new Error(`the weights of ${describe(source)} in the layout ${layout} are not packed`);
}

function describe({ dataType, shape }: Literal): string {
  return `${elementCount(shape)} elements of ${dataType}`;
}
