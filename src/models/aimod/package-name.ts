/** The file extension of packages. */
import { extname } from "../../platform/node/paths.ts";

/** Extension of Kapsl's packages: gzip-compressed tar archives with a metadata.json. */
export const packageExtension = ".aimod";

/** Whether a path has the extension .aimod, in any case. */
export function isPackage(path: string): boolean {
  return extname(path).toLowerCase() === packageExtension;
}
