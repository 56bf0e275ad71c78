/**
 * Known-answer checks of generated code: before a kernel is first used, what it computes is compared with the interpreter on small inputs. Functions
 * that differ are excluded from lowering, so that the interpreter computes their operations.
 */
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import { InferyardError, getMessage } from "../../../contract/errors.ts";
import type { compileKernels, WasmFeatures } from "../../codegen/wasm/index.ts";
import { withoutOptimizer } from "../../codegen/wasm/v8-flags.ts";
import type { MachineCode } from "../../codegen/x64/index.ts";
import { type KernelFunction, familyOf } from "../../lower/kernel-functions.ts";
import type { BlockFormat } from "../../../formats/gguf/blocks/block-format.ts";
import { findDecoderProblem, wrongBuild } from "../../../formats/answers/decoder-answers.ts";
import { InterpreterAnswers, interpretedNames } from "../interpreter-checks/known-answers.ts";
import type { KernelSelfTest } from "../../../kernels/kernel-entry.ts";
import type { KernelMachine, X64Level } from "../../../kernels/simd-levels.ts";
import type { QuantizedBlocks } from "../../ir/lazy-storage.ts";
import type { Literal } from "../../ir/literal.ts";
import { BlockKernels } from "../block-kernels.ts";
import { elementwiseFunctions } from "./elementwise-functions.ts";
import type { CheckCase } from "./case-builder.ts";
import { knownAnswerCases } from "./known-answer-cases.ts";
import { casesOfFamily, checkedFamilies, elementwiseCases, type MadeCases, sampleFamilies } from "./check-cases.ts";
import { MachineChecks, describeChecks, functionOf, isMachineName } from "./machine-checks.ts";
import type { PassedChecks } from "./passed-checks.ts";
import { runCases } from "./run-cases.ts";

/** Steps of elementwise chains that `checkAll` checks between two yields to the event loop. */
const stepsAtOnce = 40;

/** A function of generated code that failed its check. */
export interface FailedKernelFunction {
  /** See `KernelFunction`. */
  readonly name: string;
  /** The computed result and the right one. */
  readonly problem: string;
}

/** What names of interpreted operations begin with in the record of passed checks. */
const interpreterPrefix = "interpreter: ";

/** Options of `KernelChecks`. */
export interface KernelCheckOptions {
  /** Compiles the kernels to be checked; tests give one that breaks them. Default: `compileKernels`. */
  readonly compile?: typeof compileKernels;
  /** The kernels for quantized weights. Default: generated code and plain TypeScript. */
  readonly blockKernels?: BlockKernels;
  /** Reads the known answers of the interpreter. Default: the answers in `answer-table.ts`, read when a model first needs one. */
  readonly interpreterAnswers?: () => Promise<InterpreterAnswers>;
  /** Checks that passed in earlier processes, which are not repeated. Default: none. Kernels for quantized weights are always tested. */
  readonly passed?: PassedChecks | undefined;
}

/** The results of all checks. Each function is checked once. */
export class KernelChecks {
  readonly #features: WasmFeatures;
  readonly #compile: typeof compileKernels | undefined;
  /** By name of the function: undefined when it is right, otherwise what is wrong. */
  readonly #results = new Map<string, string | undefined>();
  readonly #cases: MadeCases = new Map();
  /** What the interpreter computed of cases, which are checked in WebAssembly and in machine code. */
  readonly #interpreted = new WeakMap<CheckCase, readonly Literal[]>();
  readonly #blockKernels: BlockKernels;
  readonly #selfTests = new Map<string, KernelSelfTest>();
  /** Formats whose decoders gave the known answers. */
  readonly #rightDecoders = new WeakSet<BlockFormat>();
  readonly #passed: PassedChecks | undefined;
  /** Functions that passed in an earlier process and were not checked in this one. */
  readonly #remembered: Set<string>;
  /** Those of them that passed as machine code. */
  readonly #rememberedMachine: ReadonlySet<string>;
  /** Functions that passed in this process and that `#passed` was not told of. */
  #news: string[] = [];
  readonly #machineChecks: MachineChecks;
  #createMachineCode: ((level?: X64Level) => MachineCode) | undefined;
  readonly #openAnswers: () => Promise<InterpreterAnswers>;
  #answers: Promise<InterpreterAnswers> | undefined;
  /** By name of the operation: undefined when the interpreter computes it right, otherwise what is wrong. */
  readonly #operations = new Map<string, string | undefined>();
  /** By name of a function that failed: the operations that the interpreter computed to compare it with. */
  readonly #comparedOperations = new Map<string, readonly string[]>();

  /** `features`: those that kernels are generated with. */
  constructor(features: WasmFeatures, { compile, blockKernels, interpreterAnswers, passed }: KernelCheckOptions = {}) {
    this.#features = features;
    this.#compile = compile;
    this.#blockKernels = blockKernels ?? new BlockKernels({ machine: machineWith(features) });
    this.#passed = passed;
    this.#openAnswers = interpreterAnswers ?? readAnswers;
    const names = passed?.names ?? [];
    this.#machineChecks = new MachineChecks(names);
    this.#remembered = new Set(names.filter((name) => !name.startsWith(interpreterPrefix) && !isMachineName(name)));
    this.#rememberedMachine = new Set(names.filter(isMachineName).map(functionOf));
    for (const name of this.#remembered) this.#results.set(name, undefined);
    for (const name of names)
      if (name.startsWith(interpreterPrefix)) this.#operations.set(name.slice(interpreterPrefix.length), undefined);
  }

  /** The kernels for quantized weights, which these checks test. */
  get blockKernels(): BlockKernels {
    return this.#blockKernels;
  }

  /** Results of the self-tests of kernels for quantized weights, by id. */
  get selfTests(): ReadonlyMap<string, KernelSelfTest> {
    return this.#selfTests;
  }

  /**
   * Makes machine code callable, so that its kernels are tested and selected. `create`: prepares machine code of a level for one check. `features`: see
   * `BlockKernels.addMachineCode`.
   */
  addMachineCode(create: (level?: X64Level) => MachineCode, features: readonly string[]): void {
    this.#createMachineCode = create;
    this.#blockKernels.addMachineCode(features);
  }

  /**
   * Checks machine code of functions that was not checked before, on the cases of their WebAssembly. Kernels for quantized weights have self-tests
   * instead. Without `addMachineCode` nothing is checked.
   */
  checkMachineCode(functions: readonly KernelFunction[], level: X64Level): void {
    const create = this.#createMachineCode;
    const unknown = functions.filter(({ name, blocks }) => blocks === undefined && !this.#machineChecks.has(name, level));
    if (create === undefined || unknown.length === 0) return;
    const cases = unknown.flatMap((each) => this.#machineCases(each));
    const problems = new Map<string, string>();
    for (const [index, problem] of this.#run(cases, create(level)).entries()) {
      const name = cases[index]?.name;
      if (problem !== undefined && name !== undefined) problems.set(name, problem);
    }
    for (const { name } of unknown) {
      const problem = problems.get(name);
      this.#machineChecks.add(name, level, problem);
      if (problem === undefined) this.#news.push(MachineChecks.getName(name, level));
    }
  }

  /** What is wrong with the machine code of a kernel family, as far as it was checked; undefined if it is right. */
  findMachineProblem(family: string, level: X64Level): string | undefined {
    return this.#machineChecks.findProblem(family, level);
  }

  /** Checks all functions of a kernel family in machine code that were not checked before. Returns what is wrong; undefined if all are right. */
  checkMachineFamily(family: string, level: X64Level): string | undefined {
    const names = new Set(this.#familyCases(family).map(({ name }) => name));
    const functions = family === "elementwise" ? elementwiseFunctions() : [...names].map((name): KernelFunction => ({ name }));
    this.checkMachineCode(functions, level);
    return this.findMachineProblem(family, level);
  }

  /** Runs the self-tests of all kernels for a format that can be called here and were not tested before. */
  testBlockKernels(blocks: Pick<QuantizedBlocks, "type" | "format">): void {
    for (const { id } of this.#blockKernels.callable(blocks)) this.check([{ name: id, blocks }]);
  }

  /**
   * Checks the functions that were not checked before. Returns whether any of these failed. Throws VERIFICATION_FAILED if the decoder of quantized weights
   * is wrong, since no kernel can compute with them then.
   */
  check(functions: readonly KernelFunction[]): boolean {
    const unknown = new Map(functions.filter(({ name }) => !this.#results.has(name)).map((each) => [each.name, each]));
    if (unknown.size === 0) return false;
    for (const name of unknown.keys()) this.#results.set(name, undefined);
    const cases: CheckCase[] = [];
    for (const each of unknown.values()) {
      if (each.blocks !== undefined) this.#testBlockKernel(each.name, each.blocks);
      else cases.push(...this.#functionCases(each));
    }
    for (const [index, problem] of this.#run(cases).entries()) {
      const name = cases[index]?.name;
      if (problem === undefined || name === undefined || this.#results.get(name) !== undefined) continue;
      this.#results.set(name, problem);
      const compared = cases[index]?.nodes.flatMap(({ operation }) => interpretedNames(operation)) ?? [];
      this.#comparedOperations.set(name, compared);
    }
    for (const [name, { blocks }] of unknown) if (blocks === undefined && !this.hasFailed(name)) this.#news.push(name);
    return [...unknown.keys()].some((name) => this.hasFailed(name));
  }

  /**
   * Compares results of the interpreter for a model with known answers: these operations, by `interpretedNames`, and the computations that excluded functions
   * of generated code were compared with, since the function may be right and the interpreter wrong. Records what passed. Throws VERIFICATION_FAILED, which names the operation.
   */
  async checkInterpreter(operations: Iterable<string>, excluded: Iterable<string>): Promise<void> {
    const compared = [...excluded].flatMap((name) => this.#comparedOperations.get(name) ?? []);
    const names = [...operations, ...compared];
    await this.#checkOperations(names);
    this.remember();
    for (const name of names) {
      const problem = this.#operations.get(name);
      if (problem === undefined) continue;
      throw new InferyardError("VERIFICATION_FAILED", `the interpreter computes "${name}" wrong: ${problem}`, {
        remedy:
          "this build of the engine computes wrong values from such models: use another target, or install the package again",
      });
    }
  }

  async #checkOperations(names: readonly string[]): Promise<void> {
    const unknown = new Set(names.filter((name) => !this.#operations.has(name)));
    if (unknown.size === 0) return;
    const answers = await this.#readAnswers();
    for (const name of unknown) {
      const problem = withoutOptimizer(() => answers.findProblem(name));
      this.#operations.set(name, problem);
      if (problem === undefined) this.#news.push(interpreterPrefix + name);
    }
  }

  #readAnswers(): Promise<InterpreterAnswers> {
    return (this.#answers ??= this.#openAnswers());
  }

  /** The operations that the interpreter computes wrong. */
  get failedOperations(): readonly FailedKernelFunction[] {
    return failedIn(this.#operations);
  }

  /** Records the functions that passed, for later processes. `isComplete`: these are all that there are. */
  remember(options: { readonly isComplete?: boolean } = {}): void {
    if (this.#news.length > 0) this.#passed?.add(this.#news, options);
    this.#news = [];
  }

  /**
   * Says how many of these functions agree with the interpreter, and how many of them were found right by an earlier process: "12 functions of generated code agree
   * with the interpreter (9 remembered from 2026-11-26)".
   */
  describe(names: readonly string[]): string {
    const remembered = names.filter((name) => this.#remembered.has(name) || this.#rememberedMachine.has(name)).length;
    return describeChecks(names.length, remembered, this.#passed?.since);
  }

  /**
   * Names of functions in the record of passed checks: as WebAssembly, as machine code of a level, or both. Undefined where one is not recorded, as those that multiply
   * quantized weights.
   */
  recordedNames(functions: readonly KernelFunction[], level: X64Level | undefined): readonly string[] | undefined {
    const recorded = functions.map(({ name, blocks }): readonly string[] => {
      if (blocks !== undefined) return [];
      const isRight = this.#results.has(name) && !this.hasFailed(name);
      const isMachineCode = level !== undefined && this.#machineChecks.has(name, level);
      return [...(isRight ? [name] : []), ...(isMachineCode ? [MachineChecks.getName(name, level)] : [])];
    });
    return recorded.every(({ length }) => length > 0) ? recorded.flat() : undefined;
  }

  /** Names of the functions that are right: checked in this process, or remembered. */
  get right(): readonly string[] {
    return [...this.#results].flatMap(([name, problem]) => (problem === undefined ? [name] : []));
  }

  /** Whether the function with this name was checked and is wrong. */
  hasFailed(name: string): boolean {
    return this.#results.get(name) !== undefined;
  }

  /** The functions that are wrong. */
  get failed(): readonly FailedKernelFunction[] {
    return failedIn(this.#results);
  }

  /** Number of functions that were checked. */
  get count(): number {
    return this.#results.size;
  }

  /**
   * Checks all functions of generated code and all operations of the interpreter, in about half a second, and yields to the event loop meanwhile. If all of them passed in an earlier process,
   * only a sample is checked again; everything is, if that fails.
   */
  async checkAll(): Promise<void> {
    if (this.#passed?.isComplete === true && this.#sampleAgrees()) return;
    this.#forget(this.#remembered);
    for (const family of checkedFamilies) {
      this.check(this.#familyCases(family));
      await yieldToEventLoop();
    }
    const steps = elementwiseFunctions();
    for (let from = 0; from < steps.length; from += stepsAtOnce) {
      this.check(steps.slice(from, from + stepsAtOnce));
      await yieldToEventLoop();
    }
    this.#operations.clear();
    const answers = await this.#readAnswers();
    for (const name of answers.names) {
      await this.#checkOperations([name]);
      await yieldToEventLoop();
    }
    this.remember({ isComplete: this.failed.length === 0 && this.failedOperations.length === 0 });
  }

  #sampleAgrees(): boolean {
    const cases = sampleFamilies.flatMap((family) => this.#familyCases(family));
    this.#forget(cases.map(({ name }) => name));
    return !this.check(cases);
  }

  /** Makes functions unchecked. */
  #forget(names: Iterable<string>): void {
    for (const name of names) {
      this.#remembered.delete(name);
      this.#results.delete(name);
    }
  }

  /** Runs the self-test of one kernel for quantized weights, alone, so that its time is known. */
  #testBlockKernel(id: string, blocks: Pick<QuantizedBlocks, "type" | "format">): void {
    const entry = this.#blockKernels.callable(blocks).find((kernel) => kernel.id === id);
    const kernel = entry && this.#blockKernels.getKernel(entry);
    if (entry === undefined || kernel === undefined) return;
    if (!this.#rightDecoders.has(blocks.format)) {
      const decoderProblem = findDecoderProblem(blocks.type, blocks.format);
      if (decoderProblem !== undefined) throw wrongBuild(decoderProblem);
      this.#rightDecoders.add(blocks.format);
    }
    const start = performance.now();
    const cases = knownAnswerCases(blocks, entry, kernel);
    // Wrong machine code of another kernel, such as the quantization of activations, says nothing of this product.
    const problem = this.#run(cases, this.#createMachineCode?.(), "block-matmul").find((each) => each !== undefined);
    const milliseconds = performance.now() - start;
    this.#results.set(id, problem);
    this.#selfTests.set(id, problem === undefined ? { passed: true, milliseconds } : { passed: false, problem, milliseconds });
  }

  #functionCases({ name, step }: KernelFunction): readonly CheckCase[] {
    if (step === undefined) return this.#getCases(name);
    const cases = this.#cases.get(name) ?? elementwiseCases(name, step);
    this.#cases.set(name, cases);
    return cases;
  }

  /** The cases of a function for its machine code. Those with quantized weights are made anew, since the kernels of a run release the weights. */
  #machineCases(each: KernelFunction): readonly CheckCase[] {
    const cases = this.#functionCases(each);
    if (!cases.some(hasQuantizedWeights)) return cases;
    return casesOfFamily(familyOf(each.name)).filter(({ name }) => name === each.name);
  }

  #getCases(name: string): readonly CheckCase[] {
    return this.#familyCases(familyOf(name)).filter((each) => each.name === name);
  }

  #familyCases(family: string): readonly CheckCase[] {
    return casesOfFamily(family, this.#cases);
  }

  /** What is wrong with each case. All run as one graph; if that throws, each runs alone. Machine code: see `RunCasesOptions`. */
  #run(cases: readonly CheckCase[], machineCode?: MachineCode, machineFamily?: string): readonly (string | undefined)[] {
    try {
      const options = {
        features: this.#features,
        compile: this.#compile,
        machineCode,
        machineFamily,
        interpreted: this.#interpreted,
      };
      return withoutOptimizer(() => runCases(cases, options));
    } catch (error) {
      if (cases.length === 1) return [`it stopped: ${getMessage(error)}`];
      return cases.flatMap((each) => this.#run([each], machineCode, machineFamily));
    }
  }
}

function hasQuantizedWeights({ nodes }: CheckCase): boolean {
  return nodes.some(({ inputs }) => inputs.some(({ constant }) => constant?.storage?.blocks !== undefined));
}

async function readAnswers(): Promise<InterpreterAnswers> {
  const { readAnswerTable } = await import("../interpreter-checks/read-answers.ts");
  return new InterpreterAnswers(await readAnswerTable());
}

function failedIn(results: ReadonlyMap<string, string | undefined>): readonly FailedKernelFunction[] {
  return [...results].flatMap(([name, problem]) => (problem === undefined ? [] : [{ name, problem }]));
}

/** What generated code needs to know of a machine. */
function machineWith({ simd, relaxedSimd }: WasmFeatures): KernelMachine {
  const unknown = "this machine was not looked at";
  return {
    architecture: "wasm32",
    features: [],
    wasm: { simd, relaxedSimd },
    cuda: unknown,
    machineCode: unknown,
  };
}
