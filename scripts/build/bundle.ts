/**
 * Builds dist/ from src/: one file for each entry of src/bundling/entries.ts and page-entries.ts, and chunks for what several of them share, all in one folder. Packages
 * stay imports.
 *
 *     npm run build
 */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { nodeEntries, packageRoot, writeBundle } from "../../src/bundling/write-bundle.ts";
import { pageEntries } from "./page-entries.ts";
import { pagePlugins } from "./page-plugins.ts";

const dist = resolve(packageRoot, "dist");
rmSync(dist, { recursive: true, force: true });
await Promise.all([
  writeBundle({ entries: nodeEntries, folder: dist, isPage: false }),
  writeBundle({ entries: pageEntries, folder: resolve(dist, "browser"), isPage: true, plugins: pagePlugins }),
]);
