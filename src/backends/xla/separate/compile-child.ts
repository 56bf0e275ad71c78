/** Program of the child process of `compile-in-child.ts`: compiles one program, and keeps it in the folder of compiled programs. */
import { readFile } from "node:fs/promises";
import type { ProgramArgument } from "../../../engine/codegen/stablehlo/index.ts";
import { answerParent } from "../../../platform/node/child-report.ts";
import { openLoader } from "../open-compiler.ts";
import type { ChildCompileRequest, SentProgram } from "./compile-in-child.ts";

await answerParent(async (request): Promise<null> => {
  const { plugin, threads, file } = request as ChildCompileRequest;
  const sent = JSON.parse(await readFile(file, "utf8")) as SentProgram;
  const { programs } = await openLoader("a program", plugin, threads);
  const named = sent.arguments.map((type, index): ProgramArgument => ({ kind: "input", name: String(index), type }));
  programs.load({
    text: sent.text,
    arguments: named,
    results: sent.results.map((type, index) => ({ name: String(index), type })),
  });
  return null;
});
