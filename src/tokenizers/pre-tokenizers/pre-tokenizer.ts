import type { Pieces } from "../alignment/pieces.ts";

/** A cut of a text before the model sees it. */
export type PreTokenizer = (pieces: Pieces) => Pieces;
