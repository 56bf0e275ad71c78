/** What the targets of model files share: an input is written to a file, which is inspected and read as a model of one file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectFile } from "../../src/inspection/index.ts";
import { readManifest } from "../../src/models/index.ts";
import { InferyardError, type ErrorCode } from "../../src/contract/errors.ts";
import { scratchFolder } from "./scratch-folder.ts";
import type { OpenTarget } from "./target.ts";

export const fileCodes: readonly ErrorCode[] = ["MODEL_INVALID", "MODEL_UNSUPPORTED", "LIMIT_EXCEEDED"];

/** `also` is asked with the path of an input that the inspection accepted. */
export function inspecting(name: string, also?: (path: string) => Promise<void>): OpenTarget {
  const folder = scratchFolder();
  const path = join(folder.path, name);
  return {
    async run(input) {
      writeFileSync(path, input);
      JSON.stringify(await inspectFile(path, { displayName: name, backends: [] }));
      await also?.(path);
      await readManifest(path).catch((error: unknown) => {
        // A whole file may be no model: an architecture that is not known, no config.json beside it.
        if (!(error instanceof InferyardError) || !modelCodes.has(error.code)) throw error;
      });
    },
    close: () => folder.remove(),
  };
}

const modelCodes: ReadonlySet<ErrorCode> = new Set([...fileCodes, "MODEL_NOT_FOUND", "POOLING_UNKNOWN", "TOKENIZER_INVALID"]);
