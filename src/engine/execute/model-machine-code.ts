/** The machine code of one loaded model: which of its kernels run as machine code, and why others do not. */
import { InferyardError } from "../../contract/errors.ts";
import { machineFamilyId, withoutMachineCode } from "../../kernels/kernel-ids.ts";
import type { X64Level } from "../../kernels/simd-levels.ts";
import type { WasmMemory } from "../codegen/wasm/assembler/webassembly.ts";
import type { CompiledKernels, Kernel } from "../codegen/wasm/index.ts";
import {
  type InstalledKernel,
  type MachineCode,
  type MachineObject,
  generateMachineKernels,
  withInstalled,
} from "../codegen/x64/index.ts";
import { withoutOptimizer } from "../codegen/wasm/v8-flags.ts";
import { type KernelFunction, familyOf } from "../lower/kernel-functions.ts";
import type { MachineCodeLimit } from "./block-kernels.ts";
import type { CountedStep } from "./executable.ts";
import type { KernelChecks } from "./kernel-checks/kernel-checks.ts";

/** Checks, installs and frees the machine code of a model. */
export class ModelMachineCode {
  readonly #machineCode: MachineCode | undefined;
  readonly #checks: KernelChecks | undefined;
  /** Why the model has no machine code at all. */
  readonly #refusal: string | undefined;
  /** Why some of its kernels have none. */
  readonly #problems = new Set<string>();
  /** Levels of the kernels that run as machine code, by key. */
  readonly #levels = new Map<string, X64Level>();
  /** Keys of kernels whose machine code an earlier process generated. */
  readonly #kept = new Set<string>();
  #compiledCount = 0;

  /** `machineCode`: calls kernels, or why nothing does. `checks`: default: machine code is used unchecked, for tests of the engine itself. */
  constructor(machineCode: MachineCode | string | undefined, checks: KernelChecks | undefined) {
    this.#checks = checks;
    if (typeof machineCode === "object") this.#machineCode = machineCode;
    else this.#refusal = machineCode;
  }

  /** What the selection of kernels for quantized weights must know. */
  get limit(): MachineCodeLimit {
    if (this.#machineCode !== undefined) return { level: this.#machineCode.level };
    return { refusal: "this model uses no machine code" };
  }

  /**
   * The machine code of those kernels that have some: of the cache, or generated. It is checked, unless that was done before. A family that computes wrong
   * values is left to WebAssembly. `functions`: what the kernels compute. Undefined if none has any.
   */
  create(kernels: readonly Kernel[], functions: readonly KernelFunction[]): MachineObject | undefined {
    if (this.#machineCode === undefined) return undefined;
    const { level } = this.#machineCode;
    const families = new Map(kernels.map(({ key, family }) => [key, family]));
    const object = this.#readOrGenerate(kernels, [...families.keys()], this.#machineCode);
    const generatedFamilies = new Set(object.kernels.map(({ key }) => families.get(key)));
    const isGenerated = ({ name }: KernelFunction): boolean => generatedFamilies.has(familyOf(name));
    this.#checks?.checkMachineCode(functions.filter(isGenerated), level);
    const right = object.kernels.filter(({ key }) => {
      const problem = this.#checks?.findMachineProblem(families.get(key) ?? key, level);
      if (problem !== undefined) this.#problems.add(`the machine code of ${problem}`);
      return problem === undefined;
    });
    return right.length === 0 ? undefined : { ...object, kernels: right };
  }

  #readOrGenerate(kernels: readonly Kernel[], keys: readonly string[], machineCode: MachineCode): MachineObject {
    const kept = machineCode.cache?.read(keys);
    if (kept !== undefined) for (const { key } of kept.kernels) this.#kept.add(key);
    if (kept !== undefined) return kept;
    const object = withoutOptimizer(() => machineCode.link(generateMachineKernels(kernels, machineCode)));
    if (object.kernels.length > 0) machineCode.cache?.write(keys, object);
    return object;
  }

  /**
   * Names of the checks that functions of a plan have passed, in WebAssembly and in machine code, as the record of passed checks has them. Undefined where a kernel was
   * left out, or has a check that is not remembered. Without checks there are none.
   */
  checksOf(functions: readonly KernelFunction[], checks: KernelChecks | undefined): readonly string[] | undefined {
    if (this.#problems.size > 0) return undefined;
    return checks === undefined ? [] : checks.recordedNames(functions, this.#machineCode?.level);
  }

  /** Installs machine code. Where the system refuses it, nothing is installed, and the reason is kept. */
  install(object: MachineObject | undefined): readonly InstalledKernel[] {
    if (this.#machineCode === undefined || object === undefined) return [];
    try {
      const installed = this.#machineCode.installObject(object);
      for (const { key, level } of object.kernels) this.#levels.set(key, level);
      return installed;
    } catch (error) {
      if (!(error instanceof InferyardError) || error.code !== "BACKEND_UNAVAILABLE") throw error;
      this.#problems.add(error.message);
      return [];
    }
  }

  /** Adds the functions of installed machine code to those of WebAssembly. */
  bind(compiled: CompiledKernels, installed: readonly InstalledKernel[], memory: WasmMemory): CompiledKernels {
    const all = this.#machineCode === undefined ? compiled : withInstalled(compiled, installed, memory, this.#machineCode);
    this.#compiledCount += all.functions.size;
    return all;
  }

  /** The id under which a step is counted, which names what computes it. */
  getId({ id, key, family }: CountedStep): string {
    if (key === undefined || family === undefined) return id;
    const level = this.#levels.get(key);
    if (level === undefined) return withoutMachineCode(id);
    return id.endsWith("_Wasm") ? machineFamilyId(family, level) : id;
  }

  /** Sentences for the evidence, without full stops. Without a machine code or a reason for having none there are none. */
  describe(): readonly string[] {
    if (this.#machineCode === undefined)
      return this.#refusal === undefined ? [] : [`machine code: none, WebAssembly computes all kernels: ${this.#refusal}`];
    const { level, cache } = this.#machineCode;
    const kept = [...this.#kept].filter((key) => this.#levels.has(key)).length;
    const origin = kept === 0 ? "" : `, ${kept} of them from the cache on disk`;
    const missing = cache?.problem === undefined ? "" : `; they are not kept on disk: ${cache.problem}`;
    const problems = [...this.#problems].map((problem) => `; WebAssembly takes its place where it was refused: ${problem}`);
    return [
      `machine code: ${this.#levels.size} of ${this.#compiledCount} kernels, up to ${level}${origin}${missing}${problems.join("")}`,
    ];
  }

  /** Unmaps the machine code. No kernel may run or be called afterwards. */
  free(): void {
    this.#machineCode?.free();
  }
}
