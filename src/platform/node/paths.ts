/** Path functions of Node.js. In a browser paths are URLs: src/platform/browser/paths.ts. */
export { basename, dirname, extname, isAbsolute, join, normalize, sep } from "node:path";
