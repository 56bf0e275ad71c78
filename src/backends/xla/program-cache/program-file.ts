/** Files of compiled programs. Plugins load executables of other versions and processors without complaint and end the process when they run. */
import { type CodeFormat, type StoredCode, decodeCode, encodeCode } from "../../../storage/code-cache/code-file.ts";

/** Description of a program, for lists. */
export interface ProgramDescription {
  /** Path of the plugin that compiled it. */
  readonly plugin: string;
  /** Version of the plugin's PJRT API, such as "0.106". */
  readonly apiVersion: string;
  /** Type of the device, such as "cpu". */
  readonly device: string;
  /** Kind of the device, such as "NVIDIA H200". */
  readonly deviceKind: string;
  /** Path of the weights or graph of the model for which it was compiled. Another model of the same graph uses it as well. */
  readonly model: string;
  /** Types of its inputs, such as "input_ids int64[1,16]". */
  readonly inputs: readonly string[];
  /** Time at which it was compiled, ISO 8601 in UTC. */
  readonly compiled: string;
  /** Duration of the compilation in milliseconds. */
  readonly milliseconds: number;
}

/** Content of a program's file; `executable` are the bytes that the plugin serialized. For its key see `programKey`. */
export type StoredProgram = StoredCode<ProgramDescription>;

/** Maximum number of inputs in a description, and of characters of each: models of strangers have names of any length. */
const [maxInputs, maxInputLength] = [64, 200];

/** The format of the files. */
export const programFormat: CodeFormat<ProgramDescription> = {
  magic: "IYXLAEXE",
  version: 1,
  extension: "program",
  parseDescription(value) {
    const found = value as Partial<Record<keyof ProgramDescription, unknown>> | null;
    const texts = ["plugin", "apiVersion", "device", "deviceKind", "model", "compiled"] as const;
    const isWhole =
      texts.every((name) => typeof found?.[name] === "string") &&
      typeof found?.milliseconds === "number" &&
      Array.isArray(found.inputs) &&
      found.inputs.every((input) => typeof input === "string");
    return isWhole ? (found as ProgramDescription) : undefined;
  },
};

/** The program with a short description, whatever the model calls its inputs. */
export function withShortDescription(program: StoredProgram): StoredProgram {
  const inputs = program.description.inputs.slice(0, maxInputs).map((input) => input.slice(0, maxInputLength));
  return { ...program, description: { ...program.description, inputs } };
}

/** The bytes of a file. */
export function encodeProgram(program: StoredProgram): Uint8Array {
  return encodeCode(programFormat, program);
}

/** Reads the bytes of a file; see `decodeCode`. */
export function decodeProgram(bytes: Uint8Array, key: string): StoredProgram | undefined {
  return decodeCode(programFormat, bytes, key);
}
