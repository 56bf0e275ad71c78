/** The grammar of paths on this machine. In a browser the paths are URLs (src/platform/browser/paths.ts). */
export { basename, dirname, extname, isAbsolute, join, normalize, sep } from "node:path";
