/** Stack traces of the bundle name source files, in the program and under `node --enable-source-maps`. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

function outputOf(...args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}

const code = `const { createRuntime } = await import("inferyard");
  await (await createRuntime()).embed("hello", { model: "/none" }).catch((error) => console.log(error.stack));`;

it.each([
  ["a command with --debug", ["bin/inferyard.js", "embed", "hello", "--model", "/none", "--debug"]],
  ["a program that uses the library", ["--enable-source-maps", "--input-type=module", "--eval", code]],
])("of %s", async (_name, args) => {
  const output = await outputOf(...args);
  const files = [...output.matchAll(/\(?((?:\/|[A-Z]:\\|file:)[^\s()]+\.ts):\d+:\d+/g)].map(([, file]) => file ?? "");
  expect(files.length, output).toBeGreaterThan(2);
  expect(files.filter((file) => !existsSync(file.startsWith("file:") ? fileURLToPath(file) : file))).toEqual([]);
  expect(output).not.toMatch(/dist[/\\][\w-]+\.js:/);
});
