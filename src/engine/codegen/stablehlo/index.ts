/** StableHLO text of graphs. */
export { type StableHloProgram, stateGraph } from "./state-graph.ts";
