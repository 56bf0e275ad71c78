/** Translation of graphs to StableHLO text. */
export { type ProgramArgument, type StableHloProgram, emitGraph } from "./emit-graph.ts";
export { emitCacheCopy, emitDecoder } from "./emit-decoder.ts";
