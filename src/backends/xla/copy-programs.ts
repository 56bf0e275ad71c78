/** Programs that copy the caches of one model, by the sizes of the caches. */
import { emitCacheCopy } from "../../engine/codegen/stablehlo/index.ts";
import { describeType, type TensorType } from "../../engine/ir/tensor-type.ts";
import type { DeviceProgram } from "./pjrt/device-program.ts";
import type { CompileText } from "./xla-services.ts";

/** Programs are compiled at their first use and kept: a cache has one of few capacities. */
export class CopyPrograms {
  readonly #compileText: CompileText;
  readonly #programs = new Map<string, DeviceProgram>();

  constructor(compileText: CompileText) {
    this.#compileText = compileText;
  }

  /** The program that copies tensors to tensors with other numbers of positions. */
  programFor(from: readonly TensorType[], to: readonly TensorType[]): DeviceProgram {
    const key = [from, to].map((types) => types.map(describeType).join(" ")).join(" to ");
    const program = this.#programs.get(key) ?? this.#compileText(emitCacheCopy(from, to));
    this.#programs.set(key, program);
    return program;
  }

  dispose(): void {
    for (const program of this.#programs.values()) program.dispose();
    this.#programs.clear();
  }
}
