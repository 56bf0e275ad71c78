/** Runs check cases with generated code, and compares the results with the right ones. */
import { at, omitUndefined } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { elementCount, type TensorMap } from "../../../contract/tensor.ts";
import { compileKernels, kernelFunction, type WasmFeatures } from "../../codegen/wasm/index.ts";
import { type MachineCode, generateMachineKernels, withMachineCode } from "../../codegen/x64/index.ts";
import { evaluateNode } from "../../interpret/evaluate.ts";
import { evaluateStep } from "../evaluate-step.ts";
import type { Graph, NamedValue, Value } from "../../ir/graph.ts";
import { getElements, type Literal } from "../../ir/literal.ts";
import { EngineMemory } from "../../memory/engine-memory.ts";
import { blockKernelId } from "../../../kernels/kernel-ids.ts";
import type { QuantizedBlocks } from "../../ir/lazy-storage.ts";
import type { BlockKernel, PackedWeights } from "../../lower/lowered-node.ts";
import { type Plan, planGraph } from "../../plan/plan.ts";
import { Executable, type RunKernel } from "../executable.ts";
import { type CheckCase, sequenceCount } from "./case-builder.ts";
import { GuardedArena } from "./guarded-arena.ts";
import { GuardedScratch } from "./guarded-scratch.ts";
import { allocateStates } from "./state-blocks.ts";

/** Options of running cases. */
export interface RunCasesOptions {
  /** The features that kernels are generated with. */
  readonly features: WasmFeatures;
  /** Compiles the kernels. Default: `compileKernels`. */
  readonly compile?: typeof compileKernels | undefined;
  /** Calls kernels that have machine code. Default: WebAssembly computes all kernels. */
  readonly machineCode?: MachineCode | undefined;
  /** The family whose machine code is called, if there is one. Default: all families'. */
  readonly machineFamily?: string | undefined;
  /** Whether the function with this name must not be used; the interpreter computes it. Default: all are used. */
  readonly isExcluded?: (name: string) => boolean;
  /** Keeps what the interpreter computes of each case, for checks of the same cases with other code. Default: nothing is kept. */
  readonly interpreted?: WeakMap<CheckCase, readonly Literal[]>;
}

/** Runs all cases as one graph, and returns for each a message about the difference from the right result. Throws errors of kernels. */
export function runCases(cases: readonly CheckCase[], options: RunCasesOptions): readonly (string | undefined)[] {
  const accepted = cases.filter(({ isRefused }) => isRefused !== true);
  const problems = new Map(runAccepted(accepted, options).map((problem, index) => [at(accepted, index), problem]));
  return cases.map((each) => (each.isRefused === true ? findAcceptance(each, options) : problems.get(each)));
}

/** Plans a case that must be refused. Returns a message if kernels compute it; the interpreter refuses it when it runs. */
function findAcceptance(each: CheckCase, options: RunCasesOptions): string | undefined {
  if (options.isExcluded !== undefined) return undefined;
  try {
    const { plan } = planCases([each], options);
    return plan.steps.some(({ kind }) => kind === "interpret") ? undefined : "kernels compute what must be refused";
  } catch (error) {
    if (error instanceof InferyardError) return undefined;
    throw error;
  }
}

/** Plans all cases as one graph. Returns its inputs too. */
function planCases(
  cases: readonly CheckCase[],
  { features, machineCode, isExcluded }: RunCasesOptions,
  arena?: GuardedArena,
): { readonly plan: Plan; readonly inputs: readonly NamedValue[] } {
  const inputs = cases.flatMap((each, index) => [...each.inputs.keys()].map((value, at) => ({ name: `${index}.${at}`, value })));
  const outputs = cases.flatMap(({ nodes }, index) =>
    (nodes.at(-1)?.outputs ?? [])
      .slice(0, comparedOutputs(nodes))
      .map((value, at): NamedValue => ({ name: `${index}:${at}`, value })),
  );
  const graph: Graph = { inputs, nodes: cases.flatMap(({ nodes }) => nodes), outputs };
  const states = new Set(cases.flatMap((each) => each.states ?? []));
  const blockKernels = new Map(cases.flatMap((each) => getBlockKernels(each, machineCode !== undefined)));
  const plan = planGraph(graph, {
    ...(arena === undefined ? {} : { assignOffsets: (buffers) => arena.assignOffsets(buffers) }),
    isModelConstant: () => false,
    hasByteDot: features.byteDot !== "none",
    hasWideVectors: machineCode !== undefined,
    states: inputs.flatMap(({ name, value }) => (states.has(value) ? [name] : [])),
    stateBlocks: sequenceCount,
    ...omitUndefined({ isExcluded }),
    blockKernelFor: (blocks) => blockKernels.get(blocks) ?? { id: blockKernelId(blocks.type), kind: "generated" },
  });
  return { plan, inputs };
}

function runAccepted(cases: readonly CheckCase[], options: RunCasesOptions): readonly (string | undefined)[] {
  const { compile = compileKernels, machineCode, machineFamily, features, isExcluded, interpreted: known } = options;
  const memory = new EngineMemory({ shared: false });
  try {
    const arena = new GuardedArena(memory);
    const { plan, inputs } = planCases(cases, options, arena);
    const called = plan.kernels.filter(({ family }) => machineFamily === undefined || family === machineFamily);
    const machineKernels = generateMachineKernels(called, machineCode);
    const replaced = new Set(machineKernels.map(({ key }) => key));
    const others = plan.kernels.filter(({ key }) => !replaced.has(key));
    const compiled = compile(others, memory.memory, features);
    const { functions } = withMachineCode(compiled, machineKernels, memory.memory, machineCode);
    const scratch = new GuardedScratch(memory, plan.kernels);
    const run: RunKernel = (kernel, given) => {
      const call = kernelFunction(functions, kernel);
      const { pieces } = kernel;
      const offsets = scratch.place(kernel, given);
      if (pieces < 2) return scratch.guard(kernel, () => call(...offsets, 0, pieces));
      const middle = pieces >> 1; // in two parts, as threads divide it
      return (
        scratch.guard(kernel, () => call(...offsets, 0, middle)) || scratch.guard(kernel, () => call(...offsets, middle, pieces))
      );
    };
    // Before a kernel packs the weights: what is read of them afterwards comes out of the packed ones.
    const expected = cases.map((each) => each.expected?.() ?? known?.get(each) ?? interpretedOutputs(each));
    for (const [index, each] of cases.entries()) known?.set(each, at(expected, index));
    const weights = plan.weights.filter(({ unpack }) => unpack !== undefined);
    const constants = new Map(weights.map(({ source }) => [source, getElements(source)]));
    const executable = new Executable(plan, memory, run, { evaluate: evaluateStep });
    const literals = new Map(cases.flatMap((each) => [...each.inputs]));
    arena.fill();
    executable.writeInputs(
      Object.fromEntries(inputs.map(({ name, value }) => [name, literals.get(value)])) as TensorMap,
      allocateStates(memory, plan.stateBytes, cases),
    );
    executable.runSteps(0, Number.POSITIVE_INFINITY);
    arena.checkGuards();
    const results = executable.readOutputs(undefined);
    const packingProblems = new Map(plan.weights.map((each) => [each.source, findPackingProblem(memory, each, constants)]));
    const computed = new Set([...plan.functions.map(({ name }) => name), ...plan.kernels.map(({ family }) => family)]);
    const interpreted = new Set(plan.steps.flatMap((step) => (step.kind === "interpret" ? [step.operation] : [])));
    return cases.map((each, index) => {
      for (const { constant } of each.nodes.flatMap((node) => node.inputs)) {
        const problem = constant && packingProblems.get(constant);
        if (problem !== undefined) return problem;
      }
      // What the interpreter computed says nothing of a kernel.
      const { operation } = at(each.nodes, each.nodes.length - 1);
      if (isExcluded === undefined && each.isDeclined !== true && interpreted.has(operation))
        return `no kernel computes "${operation.kind}" of this case`;
      if (isExcluded === undefined && each.isDeclined === true && !interpreted.has(operation))
        return `a kernel computes "${operation.kind}" of this case, which it must leave to the interpreter`;
      if (isExcluded === undefined && each.isDeclined !== true && !computed.has(each.name) && !isOfByteDot(each))
        return `no kernel of "${each.name}" is computed`;
      for (const [at, right] of (expected[index] ?? []).slice(0, comparedOutputs(each.nodes)).entries()) {
        const problem = difference(results[`${index}:${at}`] as Literal, right, each);
        if (problem !== undefined) return problem;
      }
      return undefined;
    });
  } finally {
    machineCode?.free();
    memory.close();
  }
}

/** The quantized weights of a case that has a kernel of its own for them. */
function getBlockKernels(
  { blockKernel, machineLevel: level, nodes }: CheckCase,
  hasMachineCode: boolean,
): readonly (readonly [QuantizedBlocks, BlockKernel])[] {
  if (blockKernel === undefined && (level === undefined || hasMachineCode)) return [];
  return nodes.flatMap(({ inputs }) =>
    inputs.flatMap(({ constant }) => {
      const blocks = constant?.storage?.blocks;
      const multiplied = blocks?.transposed?.storage?.blocks ?? blocks;
      if (multiplied === undefined) return [];
      const kernel = {
        id: blockKernelId(multiplied.type),
        kind: "generated",
        ...omitUndefined({ level }),
      } as const;
      return [[multiplied, blockKernel ?? kernel] as const];
    }),
  );
}

/** Whether packed weights take far more memory than their elements, or are unpacked to other values, which whoever reads the constant afterwards gets, as a message. */
function findPackingProblem(
  memory: EngineMemory,
  { source, bytes, layout, unpack }: PackedWeights,
  constants: ReadonlyMap<Literal, ArrayLike<unknown>>,
): string | undefined {
  const room = elementCount(source.shape.map((size) => Math.ceil(size / 16) * 16)) * 8 + 1024;
  if (bytes > room) return `${bytes} bytes are taken for packed weights of ${elementCount(source.shape)} elements`;
  const location = memory.packedLocations(source).find((each) => each.layout === layout);
  const right = constants.get(source);
  if (location === undefined || right === undefined || unpack === undefined) return undefined;
  const unpacked = unpack(new Uint8Array(memory.memory.buffer, location.start, bytes)) as ArrayLike<unknown>;
  for (let index = 0; index < right.length; index += 1)
    if (right[index] !== unpacked[index])
      return `packed weight ${index} is ${String(unpacked[index])}, and ${String(right[index])} is right`;
  return undefined;
}

/** Whether the case is computed by kernels for the 8-bit dot product, which not every machine has. */
function isOfByteDot({ name }: CheckCase): boolean {
  return /^(?:quantize-rows|byte-matmul)/.test(name);
}

/** The indices of a max-pool are left to the interpreter: using them would keep the kernel from being used. */
function comparedOutputs(nodes: CheckCase["nodes"]): number {
  return nodes.at(-1)?.operation.kind === "max-pool" ? 1 : 2;
}

function interpretedOutputs({ nodes, inputs }: CheckCase): readonly Literal[] {
  const known = new Map<Value, Literal>(inputs);
  let results: readonly Literal[] = [];
  for (const { operation, inputs: operands, outputs } of nodes) {
    results = evaluateNode(
      operation,
      operands.map((value) => (value.constant ?? known.get(value)) as Literal),
    );
    for (const [index, value] of outputs.entries()) known.set(value, results[index] as Literal);
  }
  return results;
}

/** Where two tensors differ, as a message; undefined when all elements agree. */
function difference(
  computed: Literal,
  right: Literal,
  { tolerance, magnitudes }: Pick<CheckCase, "tolerance" | "magnitudes">,
): string | undefined {
  const [a, b] = [getElements(computed), getElements(right)];
  const count = elementCount(right.shape);
  for (let index = 0; index < count; index += 1) {
    if (agree(a[index], b[index], tolerance, magnitudes?.[index])) continue;
    return `element ${index} of ${computed.dataType}[${right.shape.join(",")}] is ${String(a[index])}, and ${String(b[index])} is right`;
  }
  return undefined;
}

function agree(a: unknown, b: unknown, tolerance: number, magnitude?: number): boolean {
  if (Object.is(a, b) || a === b) return true;
  if (typeof a !== "number" || typeof b !== "number" || !Number.isFinite(a) || !Number.isFinite(b)) return false;
  return Math.abs(a - b) <= tolerance * (magnitude ?? Math.max(1, Math.abs(b)));
}
