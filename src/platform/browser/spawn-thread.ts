/** Always undefined, since the engine computes on one thread in a browser. Replaces src/engine/threads/spawn-thread.ts. */
export const spawnThread: undefined = undefined;
