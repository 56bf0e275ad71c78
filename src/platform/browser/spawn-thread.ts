/** Replaces src/engine/threads/spawn-thread.ts: in a browser the engine computes on one thread. */
export const spawnThread: undefined = undefined;
