/** Name of the function of `globalThis` that allocates the counters of an instrumented module. */
export const allocatorName = "__allocateEdgeCounters";
