/** The backend `cuda` of programs, which this build does not have yet. */
import { InferyardError } from "../../contract/errors.ts";
import type { ProgramBackend } from "../interface/program-backend.ts";

const reason = "programs are not printed as CUDA C in this build: the backend is registered, and was never tried";
const remedy = "ask for xla:cuda, which computes on NVIDIA GPUs through a PJRT plugin";

/** The backend `cuda`, which refuses every program. */
export function cudaPrograms(): ProgramBackend {
  return {
    name: "cuda",
    qualifiers: [],
    probe: async () => ({ isAvailable: false, reason, remedy }),
    open: async () => {
      throw new InferyardError("BACKEND_UNAVAILABLE", reason, { remedy });
    },
  };
}
