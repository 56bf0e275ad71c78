/** Counts and names of the symbols that engineers of native inference look for. */
import type { BinarySymbol } from "../binaries/index.ts";
import type { SymbolGroup, SymbolGroupName } from "./library-analysis.ts";

const patterns: Readonly<Record<SymbolGroupName, RegExp>> = {
  bitnet: /bitnet/i,
  llama: /^llama_/,
  cuda: /cuda|^cu(?:blas|dnn|sparse|solver|fft|rand)|^cu(?:Init|Mem|Ctx|Device|Launch|Module|Stream|Event)[A-Z_]?/i,
  quantization: /quantiz|vec_dot_(?:i?q|tq|mxfp|nvfp)|i2_s(?![a-z])/i,
};

/** The symbols of each kind. C++ names are matched by the inner part of the mangled name, except symbols of the C interface of llama. */
export function groupSymbols(symbols: readonly BinarySymbol[]): Record<SymbolGroupName, SymbolGroup> {
  const getNames = (pattern: RegExp): SymbolGroup => ({
    exported: symbols.filter(({ isExported, name }) => isExported && pattern.test(name)).map(({ name }) => name),
    imported: symbols.filter(({ isImported, name }) => isImported && pattern.test(name)).map(({ name }) => name),
  });
  return {
    bitnet: getNames(patterns.bitnet),
    llama: getNames(patterns.llama),
    cuda: getNames(patterns.cuda),
    quantization: getNames(patterns.quantization),
  };
}
