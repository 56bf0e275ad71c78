#!/usr/bin/env node
import { existsSync } from "node:fs";

const program = new URL("../dist/cli.js", import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write("inferyard: this checkout is not built yet\n  npm run build\n");
  process.exitCode = 1;
}
