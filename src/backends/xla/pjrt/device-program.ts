/** Programs compiled for a PJRT device. */
import { at } from "../../../contract/checked.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type TensorType, describeType, sameShape } from "../../../engine/ir/tensor-type.ts";
import { type ClientScope, DeviceTensor } from "./device-tensor.ts";
import { bufferTypes } from "./element-types.ts";
import { type PjrtPlugin, structBytes } from "./plugin.ts";
import { PluginHandle } from "./plugin-handle.ts";
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
  readonly #scope: ClientScope;
  readonly #handle: PluginHandle;
  /** What the plugin stated. It takes milliseconds to state it, so it is asked once. */
  #memory: { readonly stated: ProgramMemory | undefined } | undefined;

  /**
   * `executable`: the plugin's handle, which this program frees. Throws CONTRACT_VIOLATION if the program's results are not of these types: a run would write
   * their handles beyond the array that it is given.
   */
  constructor(scope: ClientScope, executable: bigint, types: ProgramTypes) {
    this.#scope = scope;
    this.types = types;
    this.#handle = new PluginHandle(scope.plugin, "program", executable, scope.handles);
    try {
      this.#withExecutable((inner) => checkResults(scope.plugin, inner, types.results));
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /**
   * Starts a run and returns its results, which may still be computed. Arguments that the program's text marks as donated are freed by it, but must be
   * disposed of like others. Throws INPUT_INVALID if the types of the arguments differ from the program's parameters; the plugin would not detect this
   * and would misread them.
   */
  run(given: readonly DeviceTensor[]): readonly DeviceTensor[] {
    const executable = this.#handle.address;
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
    const [inputList, outputList] = [BigUint64Array.of(ffi.getAddress(inputs)), BigUint64Array.of(ffi.getAddress(outputs))];
    const options = structBytes(ffi, executeOptionsLayout, {});
    this.#plugin.call(
      "LoadedExecutable_Execute",
      { executable, options, argument_lists: inputList, num_devices: 1, num_args: given.length, output_lists: outputList },
      [inputs, outputs],
    );
    return results.map((type, index) => new DeviceTensor(this.#scope, type, at(outputs, index)));
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
    const got = this.#plugin.call("LoadedExecutable_GetExecutable", { loaded_executable: this.#handle.address });
    const executable = got.address("executable");
    try {
      return use(executable);
    } finally {
      this.#plugin.call("Executable_Destroy", { executable });
    }
  }

  get #plugin(): PjrtPlugin {
    return this.#scope.plugin;
  }

  /** Frees the program; a second call does nothing. */
  dispose(): void {
    this.#handle.dispose();
  }
}

/** Compares the results of a program with the types that are expected of it. */
function checkResults(plugin: PjrtPlugin, executable: bigint, expected: readonly TensorType[]): void {
  const count = plugin.call("Executable_NumOutputs", { executable }).number("num_outputs");
  const refuse = (found: string): never => {
    throw new InferyardError(
      "CONTRACT_VIOLATION",
      `the program returns ${found}, expected ${expected.map(describeType).join(", ")}`,
    );
  };
  if (count !== expected.length) refuse(`${count} results`);
  const stated = plugin.call("Executable_OutputElementTypes", { executable });
  const bytes = plugin.ffi.bytesAt(stated.address("output_types"), 4 * Math.max(1, stated.number("num_output_types")));
  const numbers = new Int32Array(bytes.buffer);
  for (const [index, type] of expected.entries())
    if (numbers[index] !== bufferTypes[type.dataType]) refuse(`elements of type ${numbers[index]} as result ${index}`);
}
