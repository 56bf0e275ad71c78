/** How threads of the engine are started here. A page has its own way: see src/browser/thread-spawner.ts. */
import type { ThreadPeer } from "./threads/kernel-threads.ts";
import { spawnNodeThread } from "./threads/node-threads.ts";

/** undefined where no threads can be started. */
export const spawnThread: (() => ThreadPeer) | undefined = () => spawnNodeThread();
