/**
 * Builds dist/ from src/: one file for each entry of entries.ts, and chunks for what several of them share, all in one folder. Packages stay imports.
 *
 *     npm run build
 */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { pageEntries } from "./entries.ts";
import { nodeEntries, root, writeBundle } from "./write-bundle.ts";

const dist = resolve(root, "dist");
rmSync(dist, { recursive: true, force: true });
await Promise.all([
  writeBundle({ entries: nodeEntries, folder: dist, isPage: false }),
  writeBundle({ entries: pageEntries, folder: resolve(dist, "browser"), isPage: true }),
]);
