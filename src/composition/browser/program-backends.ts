/** The backends of programs in a page. Takes the place of src/programs/backends/standard-program-backends.ts. */
import { nativePrograms } from "../../programs/backends/native-programs.ts";
import { ProgramBackends } from "../../programs/backends/program-backends.ts";

/** A registry with the engine's own backend, which computes in WebAssembly. */
export function standardProgramBackends(): ProgramBackends {
  return new ProgramBackends([nativePrograms()]);
}
