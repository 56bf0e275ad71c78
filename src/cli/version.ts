import { readFileSync } from "node:fs";

/** The version in package.json, which lies two folders above both src/cli and dist/cli. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}
