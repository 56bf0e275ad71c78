/** The backends of programs that are part of this package. */
import { blasPrograms } from "./blas/blas-programs.ts";
import { cudaPrograms } from "./cuda/cuda-programs.ts";
import { nativePrograms } from "./native-programs.ts";
import { ProgramBackends } from "./program-backends.ts";
import { xlaPrograms } from "./xla-programs.ts";

/** A registry with the backends of this package: native, xla, blas and cuda. What one registry has found out about this machine, it does not ask again. */
export function standardProgramBackends(): ProgramBackends {
  return new ProgramBackends([nativePrograms(), xlaPrograms(), blasPrograms(), cudaPrograms()], { isStandard: true });
}
