/** The record of a stored model, as its JSON file has it. */

/** A file of a stored model. */
export interface StoredFile {
  /** Path relative to the model's folder, with slashes. */
  readonly path: string;
  /** Bytes of the file. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** SHA-1 of the git blob, for small files of the hub, which it identifies by this digest. */
  readonly gitSha1?: string;
}

/** A variant of a stored model: its name, aliases and weight files. */
export interface StoredVariant {
  readonly name: string;
  /** Other names that select it. */
  readonly aliases: readonly string[];
  /** Paths of its weights. */
  readonly files: readonly string[];
}

/** The record of a fetched model: the JSON file that makes it part of the store. */
export interface ModelRecord {
  /** Version of this format. */
  readonly recordVersion: 1;
  /** Name of the model in the store: "owner/name", "owner/name@revision", or the name of a single file with digits of its digest. */
  readonly name: string;
  /** The reference that fetches it: `hf:owner/name[@revision]`, or a URL with a digest. */
  readonly reference: string;
  /** Where the last pull got it from: the URL of the hub or file, or the folder of Hugging Face's cache. */
  readonly source: string;
  /** "owner/name" of a model from the hub. Absent for a file from a URL. */
  readonly repository?: string;
  /** Branch, tag or commit, if the reference names one. */
  readonly revision?: string;
  /** The commit that the revision meant when it was pulled. */
  readonly commit?: string;
  readonly variants: readonly StoredVariant[];
  readonly files: readonly StoredFile[];
  /** Names of the Hugging Face tasks that it serves, from its manifest. */
  readonly tasks: readonly string[];
  /** Digest of the list of files: the name of the folder in `trees`. */
  readonly tree: string;
  /** Time of the last pull, ISO 8601. */
  readonly pulledAt: string;
}
