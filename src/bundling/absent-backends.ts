/** What a bundle has in the place of backends that were left out of it. */
import type { Backend } from "../contract/backend.ts";
import { InferyardError } from "../contract/errors.ts";

function reasonFor(name: string, included: string): { readonly reason: string; readonly remedy: string } {
  return {
    reason: `the backend ${name} is not compiled in: this bundle has ${included}`,
    remedy: `build it with the backend: inferyard build --backends ${[...included.split(", "), name].join(",")}`,
  };
}

/** A backend of models that is absent, and says that it was not compiled in. `included`: names of the backends that the bundle has. */
export function absentBackend(name: string, included: string): Backend {
  const { reason, remedy } = reasonFor(name, included);
  return {
    name,
    contractVersion: 1,
    probe: async () => ({ present: false, reason, remedy }),
    capabilities: () => ({ models: [], precisions: [], options: [] }),
    load: async () => {
      throw new InferyardError("BACKEND_UNAVAILABLE", reason, { remedy });
    },
  };
}

/** In the place of a function that creates a backend of programs: throws NOT_BUILT. `included`: names of the backends that the bundle has. */
export function absentProgramBackend(name: string, included: string): never {
  const { reason, remedy } = reasonFor(name, included);
  throw new InferyardError("NOT_BUILT", reason, { remedy });
}
