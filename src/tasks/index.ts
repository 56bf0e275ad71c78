/** The types of the tasks that are public, for the package's two faces: Node.js and browser. */
export type { Chunk, ChunkedText } from "./chunk/chunk.ts";
export type { ChunkOptions, ChunkStrategy } from "./chunk/chunk-options.ts";
export type { Separator } from "./chunk/separators.ts";
export type { ClassifyOptions } from "./classify.ts";
export type { EmbedOptions } from "./embed-settings.ts";
export type { EmbedSparseOptions, SparseEmbedding, SparseEmbeddings } from "./embed-sparse.ts";
export type { Embeddings } from "./embed.ts";
export type { TextPair } from "./encode-pairs.ts";
export type { Aggregation } from "./entities.ts";
export type { NamedEntity } from "./hugging-face-shape.ts";
export type { Activation, Classifications, LabelScore } from "./labels.ts";
export { type TokenVectors, maxSim } from "./late-interaction.ts";
export type { Entities, Entity, RecognizeOptions } from "./recognize.ts";
export type { RankedDocument, Ranking, RerankOptions } from "./rerank.ts";
