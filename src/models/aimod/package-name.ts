/** What a package is called. */
import { extname } from "../../platform/node/paths.ts";

/** Kapsl's packages of models: a gzip-compressed tar archive with metadata.json in it. */
export const packageExtension = ".aimod";

export function isPackage(path: string): boolean {
  return extname(path).toLowerCase() === packageExtension;
}
