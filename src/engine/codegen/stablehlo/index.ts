/** Translation of graphs to StableHLO text. */
export { type StableHloProgram, stateGraph } from "./state-graph.ts";
