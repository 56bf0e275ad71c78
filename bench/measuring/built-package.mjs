// The built package, imported by its own name, as a user gets it. A static import could not say what is missing.
import { existsSync } from "node:fs";

if (!existsSync(new URL("../../dist/index.js", import.meta.url))) {
  console.error("dist/ is not there: run `npm run build` first");
  process.exit(1);
}

export const { createRuntime } = await import("inferyard");
