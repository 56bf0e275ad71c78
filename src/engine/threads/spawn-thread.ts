/** How threads of the engine are started here. A page has its own way: see src/platform/browser/spawn-thread.ts. */
import type { ThreadHandle } from "./thread-pool.ts";
import { spawnNodeThread } from "./spawn-node-thread.ts";

/** undefined where no threads can be started. */
export const spawnThread: (() => ThreadHandle) | undefined = () => spawnNodeThread();
