/** Reads the model files of SentencePiece: messages of protobuf (https://github.com/google/sentencepiece, src/sentencepiece_model.proto). */
import { PbfReader } from "pbf";
import { MessageReader } from "../../formats/protobuf/message-reader.ts";

/** Types of pieces, in the order of `SentencePiece.Type`, which begins at 1. */
const pieceTypes = ["normal", "unknown", "control", "user-defined", "unused", "byte"] as const;

/** A piece of the vocabulary; its id is its index. */
export interface Piece {
  readonly text: string;
  /** Log probability of a unigram model; for BPE the negative rank. */
  readonly score: number;
  readonly type: (typeof pieceTypes)[number];
}

/** Content of a model file. */
export interface SentencePieceModel {
  readonly pieces: readonly Piece[];
  /** The algorithm: `TrainerSpec.ModelType`. */
  readonly algorithm: "unigram" | "bpe" | "word" | "char";
  /** Whether characters without a piece are written as pieces of bytes. */
  readonly byteFallback: boolean;
  readonly unknown: { readonly id: number; readonly piece: string };
  readonly bos: { readonly id: number; readonly piece: string };
  readonly eos: { readonly id: number; readonly piece: string };
  /** The character map of the normalizer in SentencePiece's binary format. Absent: characters stay as they are. */
  readonly characterMap?: Uint8Array;
  /** Whether a space is written before a text. */
  readonly addsSpace: boolean;
  /** Whether spaces at both ends, and all but one of several, are removed. */
  readonly removesSpaces: boolean;
  /** Whether spaces are written as "▁". */
  readonly escapesSpaces: boolean;
}

/** Largest number of pieces. Published models have up to 262,144. */
const maxPieces = 4_000_000;

/** The messages while they are read, with the defaults of the format. */
interface Fields {
  readonly pieces: Piece[];
  algorithm: number;
  byteFallback: number;
  readonly ids: { unknown: number; bos: number; eos: number };
  readonly texts: { unknown: string; bos: string; eos: string };
  characterMap: Uint8Array | undefined;
  readonly spaces: { adds: number; removes: number; escapes: number };
}

/** Parses a model file. Throws Error if it is damaged, has no pieces, or has an unknown algorithm. */
export function parseSentencePieceModel(bytes: Uint8Array): SentencePieceModel {
  const fields: Fields = {
    pieces: [],
    algorithm: 1,
    byteFallback: 0,
    ids: { unknown: 0, bos: 1, eos: 2 },
    texts: { unknown: "<unk>", bos: "<s>", eos: "</s>" },
    characterMap: undefined,
    spaces: { adds: 1, removes: 1, escapes: 1 },
  };
  try {
    new MessageReader(new PbfReader(bytes)).whole(readModel, fields);
  } catch (error) {
    throw new Error("it is no model of SentencePiece, or a damaged one", { cause: error });
  }
  const { pieces, ids, texts, spaces, characterMap } = fields;
  if (pieces.length === 0) throw new Error("it is no model of SentencePiece: it has no pieces");
  const algorithm = (["unigram", "bpe", "word", "char"] as const)[fields.algorithm - 1];
  if (algorithm === undefined) throw new Error(`it states the algorithm ${fields.algorithm}, which is not known`);
  return {
    pieces,
    algorithm,
    byteFallback: fields.byteFallback !== 0,
    unknown: { id: ids.unknown, piece: texts.unknown },
    bos: { id: ids.bos, piece: texts.bos },
    eos: { id: ids.eos, piece: texts.eos },
    ...(characterMap === undefined || characterMap.length === 0 ? {} : { characterMap }),
    addsSpace: spaces.adds !== 0,
    removesSpaces: spaces.removes !== 0,
    escapesSpaces: spaces.escapes !== 0,
  };
}

function readModel(field: number, into: Fields, reader: MessageReader): void {
  if (field === 1) {
    if (into.pieces.length >= maxPieces) throw new Error(`it has more than ${maxPieces} pieces`);
    const piece = reader.message(readPiece, { text: "", score: 0, type: 1 });
    into.pieces.push({ ...piece, type: pieceTypes[piece.type - 1] ?? "normal" });
  } else if (field === 2) reader.message(readTrainerSpec, into);
  else if (field === 3) reader.message(readNormalizerSpec, into);
}

function readPiece(field: number, into: { text: string; score: number; type: number }, reader: MessageReader): void {
  if (field === 1) into.text = reader.text();
  else if (field === 2) into.score = reader.float();
  else if (field === 3) into.type = reader.integer();
}

function readTrainerSpec(field: number, into: Fields, reader: MessageReader): void {
  if (field === 3) into.algorithm = reader.integer();
  else if (field === 35) into.byteFallback = reader.integer();
  else if (field === 40) into.ids.unknown = reader.integer();
  else if (field === 41) into.ids.bos = reader.integer();
  else if (field === 42) into.ids.eos = reader.integer();
  else if (field === 45) into.texts.unknown = reader.text();
  else if (field === 46) into.texts.bos = reader.text();
  else if (field === 47) into.texts.eos = reader.text();
}

function readNormalizerSpec(field: number, into: Fields, reader: MessageReader): void {
  if (field === 2) into.characterMap = reader.bytes();
  else if (field === 3) into.spaces.adds = reader.integer();
  else if (field === 4) into.spaces.removes = reader.integer();
  else if (field === 5) into.spaces.escapes = reader.integer();
}
