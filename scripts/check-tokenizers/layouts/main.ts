/**
 * Compares tokenizers without tokenizer.json, and merged settings, with AutoTokenizer of transformers: ids and offsets, text by text.
 *
 * python3 -m venv FOLDER && FOLDER/bin/pip install transformers==5.24.0 sentencepiece==0.2.3 protobuf
 * npx tsx scripts/check-tokenizers/layouts/main.ts --python FOLDER/bin/python [--texts 300] [--only NAME] [--write]
 *
 * --write puts digests of the answers for 300 texts of each layout into goldens.json beside this file, which the tests read.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type LayoutAnswer, answersOf, digestOf, layoutTexts, writeLayout } from "./folders.ts";
import { type Layout, layouts } from "./layouts.ts";

const { values } = parseArgs({
  options: {
    python: { type: "string" },
    texts: { type: "string", default: "300" },
    only: { type: "string" },
    write: { type: "boolean", default: false },
  },
});
if (values.python === undefined) throw new Error("give --python, that of an environment with transformers");

const root = mkdtempSync(join(tmpdir(), "layouts-"));
try {
  const { only } = values;
  const chosen = layouts().filter(({ name }) => only === undefined || name.includes(only));
  const texts = Object.fromEntries(chosen.map((layout) => [layout.name, layoutTexts(layout, Number(values.texts))]));
  const paths = Object.fromEntries(chosen.map((layout) => [layout.name, writeLayout(root, layout)]));
  writeFileSync(join(root, "texts.json"), JSON.stringify(texts));
  const out = join(root, "answers.json");
  execFileSync(values.python, [fileURLToPath(new URL("answers.py", import.meta.url)), root, out], {
    stdio: ["ignore", "inherit", "ignore"],
  });
  const expected = JSON.parse(readFileSync(out, "utf8")) as Readonly<Record<string, readonly LayoutAnswer[]>>;
  let different = 0;
  for (const layout of chosen)
    different += await compare(layout, paths[layout.name] ?? "", texts[layout.name] ?? [], expected[layout.name] ?? []);
  if (values.write) {
    const goldens = Object.fromEntries(Object.entries(expected).map(([name, answers]) => [name, digestOf(answers)]));
    writeFileSync(new URL("goldens.json", import.meta.url), `${JSON.stringify(goldens, undefined, 1)}\n`);
  }
  process.stdout.write(different === 0 ? "all equal\n" : `${different} texts differ\n`);
  process.exitCode = different === 0 ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}

async function compare(
  layout: Layout,
  path: string,
  texts: readonly string[],
  expected: readonly LayoutAnswer[],
): Promise<number> {
  const { name } = layout;
  let actual: readonly LayoutAnswer[] = [];
  try {
    actual = await answersOf(path, texts, layout);
  } catch (error) {
    process.stdout.write(`${name}: ${String(error)}\n`);
  }
  const differing = texts.flatMap((text, index) =>
    JSON.stringify(actual[index]) === JSON.stringify(expected[index]) ? [] : [{ text, index }],
  );
  for (const { text, index } of differing.slice(0, 2)) {
    process.stdout.write(
      `${name}: ${JSON.stringify(text)}\n  transformers ${JSON.stringify(expected[index])}\n  ours         ${JSON.stringify(actual[index])}\n`,
    );
  }
  process.stdout.write(`${name}: ${texts.length - differing.length} of ${texts.length} equal\n`);
  return differing.length;
}
