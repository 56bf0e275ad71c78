/** The host that adds nothing: the backend runs on the calling thread. For backends that never block it. */
import type { Host } from "./host.ts";

export function inlineHost(): Host {
  return {
    name: "inline",
    load: (backend, model, device, options) => backend.load(model, device, options),
    dispose: async () => {},
  };
}
