/** StableHLO text of graphs. */
export { type ProgramArgument, type StableHloProgram, stateGraph } from "./state-graph.ts";
