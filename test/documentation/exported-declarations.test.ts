/** Every export of every entry point of the package has its sentence, in the declarations that editors show. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** An entry of `exports` in package.json: a path, or a choice by conditions. */
type Target = string | { readonly [condition: string]: Target };

function declarationsOf(target: Target): readonly string[] {
  if (typeof target !== "string") return Object.values(target).flatMap(declarationsOf);
  return target.endsWith(".d.ts") ? [root + target.slice(2)] : [];
}

it("every export has a sentence that says what it is", () => {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { exports: Target };
  const files = [...new Set(declarationsOf(exports))];
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noLib: true, // the sentences are wanted, and not the types
    types: [],
  });
  const checker = program.getTypeChecker();
  const symbols = files.flatMap((file) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!);
    return module === undefined ? [] : checker.getExportsOfModule(module).map((symbol) => ({ file, symbol })); // a program exports nothing
  });
  expect(symbols.map(({ symbol }) => symbol.name)).toEqual(expect.arrayContaining(["createRuntime", "Backend", "createClient"]));
  const undocumented = symbols.filter(({ symbol }) => {
    const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return ts.displayPartsToString(declared.getDocumentationComment(checker)).trim() === "";
  });
  expect(undocumented.map(({ file, symbol }) => `${file.slice(root.length)}: ${symbol.name}`)).toEqual([]);
});
