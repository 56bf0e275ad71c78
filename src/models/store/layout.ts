/**
 * The layout of the data folder. The content of each file is stored once, under its digest; a model is a folder of links to it. docs/decisions/0006 explains
 * the design.
 */
import { join } from "node:path";
import { dataFolder } from "../../storage/data-folder.ts";

/** Absolute paths of the folders of the store of fetched models. */
export interface StoreLayout {
  /** The data folder. */
  readonly root: string;
  /** `<sha256>`: contents of files, never modified. */
  readonly blobs: string;
  /** `<git digest>`: text files, each with the SHA-256 of the blob with this git digest. */
  readonly gitDigests: string;
  /** `<digest>`: folders of links to blobs, never modified. */
  readonly trees: string;
  /** `<name>.json`: records, which state the files of each model. The modification time is the time of the last use. */
  readonly models: string;
  /** `<digest>.partial`: incomplete downloads. */
  readonly downloads: string;
  /** `<name>.lock`: locks between processes. */
  readonly locks: string;
}

/** The folders of the store in the data folder `root`. Nothing is created. */
export function storeLayout(root: string = dataFolder()): StoreLayout {
  return {
    root,
    blobs: join(root, "blobs", "sha256"),
    gitDigests: join(root, "blobs", "git-sha1"),
    trees: join(root, "trees"),
    models: join(root, "models"),
    downloads: join(root, "downloads"),
    locks: join(root, "locks"),
  };
}
