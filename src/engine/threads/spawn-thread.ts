/** How this platform starts engine threads: worker threads in Node.js. In browsers src/platform/browser/spawn-thread.ts takes this module's place. */
import type { ThreadHandle } from "./thread-pool.ts";
import { spawnNodeThread } from "./spawn-node-thread.ts";

/** Starts one thread; undefined on platforms without threads. */
export const spawnThread: (() => ThreadHandle) | undefined = () => spawnNodeThread();
