/** What a page knows of its machine. Replaces src/platform/node/machine-memory.ts. */

/** Number of processors that the browser names; 1 if it names none. */
export function processorCount(): number {
  const { navigator } = globalThis as { readonly navigator?: { readonly hardwareConcurrency?: number } };
  return navigator?.hardwareConcurrency ?? 1;
}

/** A page cannot ask how much memory is free: infinite. */
export function freeMemoryBytes(): number {
  return Number.POSITIVE_INFINITY;
}

/** Always undefined, since a page cannot read it. */
export function lastLevelCacheBytes(): undefined {
  return undefined;
}

/** A page has no environment variables. */
export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return {};
}
