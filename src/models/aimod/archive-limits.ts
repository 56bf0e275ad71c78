/** How much an archive may ask of this machine. Hostile ones are stopped by `ratio` and `entries`; the sizes stop what no disk holds. */
export interface ArchiveLimits {
  /** Files and folders. */
  readonly entries: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes of the archive once it is decompressed. */
  readonly totalBytes: number;
  /** Decompressed bytes for each byte of the package. */
  readonly ratio: number;
  /** Bytes up to which the ratio is not looked at: in a small package a little text compresses well. */
  readonly ratioFrom: number;
  /** Bytes of metadata.json, which is read at once. */
  readonly metadataBytes: number;
}

/**
 * gzip reaches about 1,030:1 (RFC 1951: 258 bytes in two bits); weights compress by less than half, JSON ten times. The largest published
 * checkpoints have a few hundred files and below 2 TB.
 */
export const archiveLimits: ArchiveLimits = {
  entries: 10_000,
  fileBytes: 1024 ** 4,
  totalBytes: 2 * 1024 ** 4,
  ratio: 100,
  ratioFrom: 16 * 1024 ** 2,
  metadataBytes: 16 * 1024 ** 2,
};
