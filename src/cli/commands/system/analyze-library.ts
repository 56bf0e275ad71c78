import { resolve } from "node:path";
import type { Command } from "commander";
import { InferyardError } from "../../../contract/errors.ts";
import { analyzeLibrary, failedRequirements } from "../../../libraries/analysis/index.ts";
import { formatAnalysis } from "../../libraries/analysis.ts";
import { formatSymbols } from "../../libraries/symbols.ts";
import { parseListFlag } from "../../option-flags.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface AnalyzeFlags {
  readonly json?: boolean;
  readonly symbols?: boolean;
  readonly require?: string[];
  readonly forbid?: string[];
}

/** Defines the command `analyze-library`. */
export function defineAnalyzeLibrary(command: Command, terminal: Terminal): void {
  command
    .argument("<path>", "a shared library, static archive, object or program: ELF, Mach-O, PE or COFF")
    .option("--symbols", "list the bitnet, llama, CUDA and quantization symbols, C++ names demangled")
    .option("--require <names>", "fail unless the library is or uses these, for example cuda or llama", parseListFlag)
    .option("--forbid <names>", "fail if the library is or uses one of these", parseListFlag)
    .action(async (path: string, flags: AnalyzeFlags) => {
      const { environment, directory } = terminal;
      const analysis = await analyzeLibrary(resolve(directory, path), { displayName: path, environment });
      const failed = failedRequirements(analysis, flags);
      const lines = [formatAnalysis(analysis), ...(flags.symbols === true ? formatSymbols(analysis) : [])];
      await writeAll(terminal.stdout, `${flags.json === true ? JSON.stringify(analysis) : lines.join("\n")}\n`);
      if (failed.length > 0) {
        throw new InferyardError("VERIFICATION_FAILED", failed.join("\n"), {
          remedy: "use another build of the library, or change --require and --forbid",
        });
      }
    });
}
