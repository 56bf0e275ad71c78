/** A copy of the modules that the checks import, as JavaScript: one file for each module, so that one of them can be exchanged for a mutant. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

/** JavaScript of a TypeScript module. Imports of `.ts` files name `.js` files. */
export function transpile(text: string): string {
  return ts.transpileModule(text, { compilerOptions }).outputText;
}

/** Paths and texts of a module and of all modules of the repository that it imports, by path from `root`. */
export async function readModules(root: string, entry: string): Promise<ReadonlyMap<string, string>> {
  const modules = new Map<string, string>();
  const queue = [entry];
  for (const file of queue) {
    const text = await readFile(join(root, file), "utf8");
    modules.set(file, text);
    for (const name of importedModules(text)) {
      const imported = relative(root, resolve(root, dirname(file), name));
      if (!queue.includes(imported)) queue.push(imported);
    }
  }
  return modules;
}

/** Relative imports of a module, without imports of types. */
function importedModules(text: string): readonly string[] {
  const withoutTypes = text.replaceAll(/^(import|export) type [^;]*;/gm, "");
  return ts
    .preProcessFile(withoutTypes)
    .importedFiles.map(({ fileName }) => fileName)
    .filter((name) => name.startsWith("."));
}

/** Writes JavaScript of a module into a copy. */
export async function writeModule(folder: string, file: string, text: string): Promise<void> {
  const path = join(folder, file.replace(/\.ts$/, ".js"));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, transpile(text));
}
