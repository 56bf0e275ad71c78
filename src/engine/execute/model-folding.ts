/** Constant folding of one loaded model, over all graphs that are traced from it. */
import { ConstantFoldingCache, type FoldingSnapshot } from "../build/constant-folding-cache.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";
import type { Literal } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { interpretedNames } from "./interpreter-checks/known-answers.ts";

/** Upper bound on the branch paths of a model whose folded weights are shared by all graphs. */
const maxBranchPaths = 8;

/** Evaluates operations on constants once for all graphs of a model, and records which operations the interpreter evaluated. */
export class ModelFolding {
  readonly #evaluated = new Set<string>();
  readonly #weights: readonly Literal[];
  readonly #imported: FoldingSnapshot | undefined;
  readonly #branchPaths = new Set<string>();
  #cache: ConstantFoldingCache;
  #hasGraph = false;

  /** `weights`: the tensors of the model file. `imported`: constants that another replica of the model has folded. */
  constructor(weights: readonly Literal[], imported?: FoldingSnapshot) {
    this.#weights = weights;
    this.#imported = imported;
    this.#cache = new ConstantFoldingCache(weights, imported);
  }

  /** The results that graphs share. */
  get cache(): ConstantFoldingCache {
    return this.#cache;
  }

  /** Evaluates operations whose operands are constants. */
  readonly fold: ConstantFolder = (operation, inputs) => {
    this.addEvaluated(operation);
    return this.#cache.fold(operation, inputs);
  };

  /** Records that the interpreter evaluates an operation for the model. */
  addEvaluated(operation: Operation): void {
    for (const name of interpretedNames(operation)) this.#evaluated.add(name);
  }

  /** Names of the operations (see `interpretedNames`) that the interpreter evaluated since the last call. */
  takeEvaluated(): readonly string[] {
    const names = [...this.#evaluated];
    this.#evaluated.clear();
    return names;
  }

  /**
   * Sets the branch path of the graphs traced next. The first graphs of a new path read further weights; results of folding them are shared by all graphs.
   */
  openBranch(branchPath: string): void {
    if (this.#branchPaths.has(branchPath) || this.#branchPaths.size >= maxBranchPaths) return;
    this.#branchPaths.add(branchPath);
    this.#cache.reopen();
  }

  /** Ends the sharing of results: later results belong to the graph they are traced for. See `ConstantFoldingCache`. */
  close(): void {
    this.#cache.close();
  }

  /** Records that a graph was compiled, whose constants must stay. */
  keep(): void {
    this.#hasGraph = true;
  }

  /** Runs `work`, which traces or compiles, and returns its result. If it fails before a graph was compiled, frees all folded constants. */
  attempt<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      if (this.#hasGraph) this.close();
      else this.#cache = new ConstantFoldingCache(this.#weights, this.#imported);
      throw error;
    }
  }
}
