/** Known answers of decoders and encoders of weights. Digests: see `computeDigest`. */
import type { EncodableType } from "../gguf/blocks/encode.ts";
import type { I2SLayout } from "../gguf/blocks/i2s.ts";
import type { TableType } from "../gguf/blocks/tl-tiles.ts";
import type { PackedType } from "../scaled-blocks/encode.ts";

/** What `answer-table.ts` holds. */
export interface AnswerTable {
  /** Elements of the blocks of each type. */
  readonly elements: number;
  /** By type: blocks in base64, the digest of their values, and properties of the format (see `getLayout`). */
  readonly blocks: Readonly<Record<string, { readonly blocks: string; readonly digest: number; readonly layout: string }>>;
  /** A matrix in base64, and the digests of its values in each layout. */
  readonly i2s: { readonly bytes: string; readonly digests: Readonly<Record<I2SLayout, number>> };
  /** Digests of the weights of each known matrix. */
  readonly tables: Readonly<Record<TableType, readonly number[]>>;
  /** Digests of the published tiles. */
  readonly tiles: Readonly<Record<TableType, number>>;
  /** Digests of the encoded known values. */
  readonly encoders: Readonly<Record<EncodableType, number>>;
  readonly packings: Readonly<Record<PackedType, number>>;
  /** The largest errors of packed weights. */
  readonly packingErrors: Readonly<Record<PackedType, number>>;
}
