/** Stands for src/engine/threads/spawn-thread.ts: in a page the engine computes on one thread. */
export const spawnThread: undefined = undefined;
