/** Translation of graphs to StableHLO text. */
export { type StableHloProgram, emitGraph } from "./emit-graph.ts";
