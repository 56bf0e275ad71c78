/**
 * Where things lie in the data folder. Content is kept once, under its digest; what a user sees as a model is a folder of links to it.
 * docs/decisions/0006 says why.
 */
import { join } from "node:path";
import { dataFolder } from "../data-folder.ts";

export interface StoreLayout {
  readonly root: string;
  /** `<sha256>`: files, written once and never changed. */
  readonly blobs: string;
  /** `<git digest>`: a text file with the SHA-256 of a blob that the hub knows by its git digest alone. */
  readonly gitDigests: string;
  /** `<digest>`: folders of links to blobs, immutable. */
  readonly trees: string;
  /** `<name>.json`: what each model consists of. The time of change is that of its last use. */
  readonly models: string;
  /** `<digest>.partial`: files under way. */
  readonly downloads: string;
  readonly locks: string;
}

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
