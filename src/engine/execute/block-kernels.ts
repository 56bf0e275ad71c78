/** The kernels that multiply quantized weights on this machine: the registry, and what the engine calls for each entry. */
import { type KernelEntry, type KernelSelfTest } from "../../kernels/kernel-entry.ts";
import { kernelRegistry, kernelsOfFormat } from "../../kernels/registry.ts";
import { isSelectable, type KernelSelection, machineRefusal, multiplies, selectKernel } from "../../kernels/select-kernel.ts";
import type { KernelMachine, X64Level } from "../../kernels/simd-levels.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import type { BlockKernel } from "../lower/lowered-node.ts";

/** State that a selection depends on besides the weights. */
export interface BlockKernelState {
  readonly selfTests: ReadonlyMap<string, KernelSelfTest>;
  readonly preference?: readonly string[] | undefined;
  /** Highest level of machine code for the model, or why it has none. Default: any that the machine has. */
  readonly machineCode?: MachineCodeLimit | undefined;
}

/** The highest level of machine code that a model may use, or why it uses none: a sentence without a full stop. */
export type MachineCodeLimit = { readonly level: X64Level } | { readonly refusal: string };

/** The parts of `BlockKernels`. */
export interface BlockKernelSettings {
  readonly machine: KernelMachine;
  /** Kernels to select from. Default: the registry. */
  readonly registry?: readonly KernelEntry[];
}

/** Selects kernels for quantized weights, and knows how each is called. */
export class BlockKernels {
  #machine: KernelMachine;
  readonly #registry: readonly KernelEntry[];

  constructor({ machine, registry = kernelRegistry }: BlockKernelSettings) {
    this.#machine = machine;
    this.#registry = registry;
  }

  /** Facts about the machine for the selection. */
  get machine(): KernelMachine {
    return this.#machine;
  }

  /** Makes machine code callable on a processor with these instruction sets, as `CpuFacts.features` names them. */
  addMachineCode(features: readonly string[]): void {
    this.#machine = { ...this.#machine, architecture: "x64", features, machineCode: true };
  }

  /** Notes why machine code cannot be called: a sentence without a full stop. */
  refuseMachineCode(reason: string): void {
    this.#machine = { ...this.#machine, machineCode: reason };
  }

  /** Selects a kernel for weights. Formats that the registry does not list (packed blocks) have the two kernels of every format. */
  select({ type, format, rows, columns }: Omit<QuantizedBlocks, "read">, state: BlockKernelState): KernelSelection {
    const { selfTests, preference = [], machineCode } = state;
    const kernels = this.#kernelsFor({ type, format });
    return selectKernel(
      { format: type, rows, columns },
      { machine: this.machineFor(machineCode), selfTests, preference, kernels },
    );
  }

  /** Facts about the machine for a model with a limit of its machine code. */
  machineFor(limit: MachineCodeLimit | undefined): KernelMachine {
    if (limit === undefined) return this.#machine;
    return "level" in limit
      ? { ...this.#machine, maxMachineLevel: limit.level }
      : { ...this.#machine, machineCode: limit.refusal };
  }

  /** The kernels for a format that can be called on this machine. */
  callable(blocks: Pick<QuantizedBlocks, "type" | "format">): readonly KernelEntry[] {
    return this.#kernelsFor(blocks).filter(
      (kernel) => multiplies(kernel, blocks.type) && isSelectable(kernel) && machineRefusal(kernel, this.machine) === undefined,
    );
  }

  /** How a kernel is called; undefined if the engine cannot call it. */
  getKernel({ id, implementation }: KernelEntry): BlockKernel | undefined {
    if (implementation.kind === "wasm") return { id, kind: "generated" };
    if (implementation.kind === "machine") return { id, kind: "generated", level: implementation.level };
    return implementation.kind === "scalar" ? { id, kind: "scalar" } : undefined;
  }

  #kernelsFor({ type, format }: Pick<QuantizedBlocks, "type" | "format">): readonly KernelEntry[] {
    const isListed = this.#registry.some((kernel) => multiplies(kernel, type));
    return isListed ? this.#registry : [...this.#registry, ...kernelsOfFormat(type, format)];
  }
}
