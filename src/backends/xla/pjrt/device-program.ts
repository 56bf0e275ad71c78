/** Programs compiled for a PJRT device. */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type TensorType, describeType, sameShape } from "../../../engine/ir/tensor-type.ts";
import { DeviceTensor } from "./device-tensor.ts";
import { type PjrtPlugin, structBytes } from "./plugin.ts";
import { executeOptionsLayout } from "./structs.ts";

/** Types of the arguments and results of a program, in order. */
export interface ProgramTypes {
  readonly arguments: readonly TensorType[];
  readonly results: readonly TensorType[];
}

/** Bytes that a program takes, as its compiler states them. */
export interface ProgramMemory {
  /** Intermediate values of one run. */
  readonly temporaryBytes: number;
  /** Machine code and constants. */
  readonly codeBytes: number;
}

/** A program compiled for one device. */
export class DeviceProgram {
  readonly types: ProgramTypes;
  readonly #plugin: PjrtPlugin;
  readonly #isHost: boolean;
  #executable: bigint;
  /** What the plugin stated. It takes milliseconds to state it, so it is asked once. */
  #memory: { readonly stated: ProgramMemory | undefined } | undefined;

  constructor(plugin: PjrtPlugin, executable: bigint, types: ProgramTypes, isHost: boolean) {
    this.#plugin = plugin;
    this.#executable = executable;
    this.types = types;
    this.#isHost = isHost;
  }

  /**
   * Starts a run and returns its results, which may still be computed. Arguments that the program's text marks as donated are freed by it, but must be
   * disposed of like others. Throws INPUT_INVALID if the types of the arguments differ from the program's parameters; the plugin would not detect this
   * and would misread them.
   */
  run(given: readonly DeviceTensor[]): readonly DeviceTensor[] {
    const executable = this.#handle;
    const { arguments: parameters, results } = this.types;
    if (given.length !== parameters.length)
      throw new InferyardError("INPUT_INVALID", `the program takes ${parameters.length} arguments, got ${given.length}`);
    for (const [index, { type }] of given.entries()) {
      const expected = at(parameters, index);
      if (type.dataType !== expected.dataType || !sameShape(type.shape, expected.shape))
        throw new InferyardError(
          "INPUT_INVALID",
          `argument ${index} is ${describeType(type)}, expected ${describeType(expected)}`,
        );
    }
    const { ffi } = this.#plugin;
    const inputs = BigUint64Array.from(given.length === 0 ? [0n] : given.map(({ handle }) => handle));
    const outputs = new BigUint64Array(Math.max(1, results.length));
    const [inputList, outputList] = [BigUint64Array.of(ffi.addressOf(inputs)), BigUint64Array.of(ffi.addressOf(outputs))];
    this.#plugin.call("LoadedExecutable_Execute", {
      executable,
      options: structBytes(ffi, executeOptionsLayout, {}),
      argument_lists: inputList,
      num_devices: 1,
      num_args: given.length,
      output_lists: outputList,
    });
    return results.map((type, index) => new DeviceTensor(this.#plugin, type, at(outputs, index), this.#isHost));
  }

  /** The machine code in the plugin's own format, which only this version of the plugin on this kind of device can load. */
  serialize(): Uint8Array {
    return this.#withExecutable((executable) => {
      const made = this.#plugin.call("Executable_Serialize", { executable });
      const bytes = this.#plugin.ffi.bytesAt(made.address("serialized_bytes"), made.number("serialized_bytes_size"));
      const free = this.#plugin.ffi.functionAt(made.address("serialized_executable_deleter"), {
        result: "void",
        parameters: ["pointer"],
      });
      free(made.address("serialized_executable"));
      return bytes;
    });
  }

  /** The memory that the program takes; undefined if the plugin does not state it. */
  get memory(): ProgramMemory | undefined {
    this.#memory ??= { stated: this.#readMemory() };
    return this.#memory.stated;
  }

  #readMemory(): ProgramMemory | undefined {
    return this.#withExecutable((executable) => {
      try {
        const stated = this.#plugin.call("Executable_GetCompiledMemoryStats", { executable });
        return {
          temporaryBytes: stated.number("temp_size_in_bytes"),
          codeBytes: stated.number("generated_code_size_in_bytes") + stated.number("host_generated_code_size_in_bytes"),
        };
      } catch {
        return undefined; // optional in PJRT
      }
    });
  }

  #withExecutable<Result>(use: (executable: bigint) => Result): Result {
    const got = this.#plugin.call("LoadedExecutable_GetExecutable", { loaded_executable: this.#handle });
    const executable = got.address("executable");
    try {
      return use(executable);
    } finally {
      this.#plugin.call("Executable_Destroy", { executable });
    }
  }

  get #handle(): bigint {
    if (this.#executable !== 0n) return this.#executable;
    throw new InferyardError("DISPOSED", "the program was freed");
  }

  /** Frees the program; a second call does nothing. */
  dispose(): void {
    if (this.#executable === 0n) return;
    const executable = this.#executable;
    this.#executable = 0n;
    this.#plugin.call("LoadedExecutable_Destroy", { executable });
  }
}
