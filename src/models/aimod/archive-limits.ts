/**
 * Limits on the content of an .aimod archive. `ratio` and `entries` stop decompression bombs; the sizes stop archives larger than
 * any disk.
 */
export interface ArchiveLimits {
  /** Largest number of files and folders. */
  readonly maxEntries: number;
  /** Largest number of bytes of one file. */
  readonly maxFileBytes: number;
  /** Largest number of bytes of the decompressed archive. */
  readonly maxTotalBytes: number;
  /** Largest number of decompressed bytes per byte of the package. */
  readonly maxRatio: number;
  /** Decompressed bytes up to which the ratio is not checked: small packages of text compress well. */
  readonly minBytesForRatio: number;
  /** Largest number of bytes of metadata.json, which is read into memory. */
  readonly maxMetadataBytes: number;
}

/**
 * The limits that apply to every .aimod package. gzip reaches about 1,030:1 (RFC 1951: 258 bytes in two bits), while weights
 * shrink by less than half and JSON to a tenth. The largest published checkpoints have a few hundred files and less than 2 TB.
 */
export const archiveLimits: ArchiveLimits = {
  maxEntries: 10_000,
  maxFileBytes: 1024 ** 4,
  maxTotalBytes: 2 * 1024 ** 4,
  maxRatio: 100,
  minBytesForRatio: 16 * 1024 ** 2,
  maxMetadataBytes: 16 * 1024 ** 2,
};
