/** Reads the model files of SentencePiece: messages of protobuf (https://github.com/google/sentencepiece, src/sentencepiece_model.proto). */
import { type MessageOf, readMessage } from "../../formats/protobuf/message-reader.ts";
import { getLastRange } from "../../formats/protobuf/ranges.ts";

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

/** The messages that are read, with the defaults of the format. */
const messages = {
  /** ModelProto. */
  model: { pieces: [1, "messages", "piece"], trainer: [2, "message", "trainer"], normalizer: [3, "message", "normalizer"] },
  /** SentencePiece. */
  piece: { text: [1, "text"], score: [2, "float"], type: [3, "integer", 1] },
  /** TrainerSpec. */
  trainer: {
    algorithm: [3, "integer", 1],
    byteFallback: [35, "integer"],
    unknownId: [40, "integer", 0],
    bosId: [41, "integer", 1],
    eosId: [42, "integer", 2],
    unknown: [45, "text", "<unk>"],
    bos: [46, "text", "<s>"],
    eos: [47, "text", "</s>"],
  },
  /** NormalizerSpec. */
  normalizer: {
    characterMap: [2, "ranges"],
    addsSpace: [3, "integer", 1],
    removesSpaces: [4, "integer", 1],
    escapesSpaces: [5, "integer", 1],
  },
} as const;

/** Parses a model file. Throws Error if it is damaged, has no pieces, or has an unknown algorithm. */
export function parseSentencePieceModel(bytes: Uint8Array): SentencePieceModel {
  const { pieces, trainer, normalizer } = readModel(bytes);
  if (pieces.length === 0) throw new Error("it is no model of SentencePiece: it has no pieces");
  const algorithm = (["unigram", "bpe", "word", "char"] as const)[trainer.algorithm - 1];
  if (algorithm === undefined) throw new Error(`it states the algorithm ${trainer.algorithm}, which is not known`);
  const map = getLastRange(normalizer.characterMap);
  return {
    pieces: pieces.map(({ text, score, type }) => ({ text, score, type: pieceTypes[type - 1] ?? "normal" })),
    algorithm,
    byteFallback: trainer.byteFallback !== 0,
    unknown: { id: trainer.unknownId, piece: trainer.unknown },
    bos: { id: trainer.bosId, piece: trainer.bos },
    eos: { id: trainer.eosId, piece: trainer.eos },
    ...(map === undefined || map.length === 0 ? {} : { characterMap: bytes.subarray(map.start, map.start + map.length) }),
    addsSpace: normalizer.addsSpace !== 0,
    removesSpaces: normalizer.removesSpaces !== 0,
    escapesSpaces: normalizer.escapesSpaces !== 0,
  };
}

type Message<Name extends keyof typeof messages> = MessageOf<typeof messages, Name>;

function readModel(bytes: Uint8Array): Message<"model"> & { trainer: Message<"trainer">; normalizer: Message<"normalizer"> } {
  try {
    const model = readMessage(bytes, "model", messages);
    const empty = new Uint8Array();
    return {
      ...model,
      trainer: model.trainer ?? readMessage(empty, "trainer", messages),
      normalizer: model.normalizer ?? readMessage(empty, "normalizer", messages),
    };
  } catch (error) {
    throw new Error("it is no model of SentencePiece, or a damaged one", { cause: error });
  }
}
