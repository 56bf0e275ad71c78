/** Stands for src/engine/thread-spawner.ts: in a page the engine computes on one thread. */
export const spawnThread: undefined = undefined;
