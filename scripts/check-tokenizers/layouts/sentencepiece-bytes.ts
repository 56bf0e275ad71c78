/** Writes model files of SentencePiece, as far as tests need it. */

/** What is written; what is left out has the default of the format. */
export interface ModelFields {
  /** Text, score, and type: 1 normal, 2 unknown, 3 control, 4 user-defined, 6 byte. */
  readonly pieces: readonly (readonly [text: string, score: number, type: number])[];
  /** 1 unigram, 2 BPE. */
  readonly algorithm: 1 | 2;
  readonly byteFallback?: boolean;
  readonly unknownId?: number;
  readonly bosId?: number;
  readonly eosId?: number;
  readonly characterMap?: Uint8Array;
  readonly addsSpace?: boolean;
  readonly removesSpaces?: boolean;
}

/** The bytes of a model file. */
export function sentencePieceBytes(model: ModelFields): Uint8Array {
  const pieces = model.pieces.map(([text, score, type]) =>
    delimited(1, [...delimited(1, [...Buffer.from(text)]), ...float(2, score), ...number(3, type)]),
  );
  const trainer = [
    ...number(3, model.algorithm),
    ...number(35, Number(model.byteFallback ?? false)),
    ...number(40, model.unknownId ?? 0),
    ...number(41, model.bosId ?? 1),
    ...number(42, model.eosId ?? 2),
  ];
  const normalizer = [...number(3, Number(model.addsSpace ?? true)), ...number(4, Number(model.removesSpaces ?? true))];
  return Buffer.concat([
    ...pieces.map((bytes) => Buffer.from(bytes)),
    Buffer.from(delimited(2, trainer)),
    Buffer.from(
      delimited(3, [...(model.characterMap === undefined ? [] : delimited(2, [...model.characterMap])), ...normalizer]),
    ),
  ]);
}

function varint(value: number): number[] {
  // Negative numbers take ten bytes, as 64-bit two's complement.
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}

function number(field: number, value: number): number[] {
  return [...varint(8 * field), ...varint(value)];
}

function float(field: number, value: number): number[] {
  return [...varint(8 * field + 5), ...new Uint8Array(Float32Array.of(value).buffer)];
}

function delimited(field: number, content: readonly number[]): number[] {
  return [...varint(8 * field + 2), ...varint(content.length), ...content];
}
