/** A host whose module is imported by its first load: many programs never load a model into it. */
import type { Host } from "../../hosts/host.ts";

/** Makes a host that `open` creates at the first load. */
export function deferredHost(name: Host["name"], open: () => Promise<Host>): Host {
  let opened: Promise<Host> | undefined;
  return {
    name,
    async load(...request) {
      opened ??= open();
      return (await opened).load(...request);
    },
    async dispose() {
      await (await opened)?.dispose();
    },
  };
}
