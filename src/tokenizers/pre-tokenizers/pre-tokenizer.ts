import type { Pieces } from "../alignment/pieces.ts";

/** Splits the pieces of a text further (trait `PreTokenizer` of the Rust library). */
export type PreTokenizer = (pieces: Pieces) => Pieces;
