/** npx tsx examples/magika/main.ts MODEL FILE... : what each file is. */
import { readFile } from "node:fs/promises";
import { createRuntime } from "inferyard";
import { Magika } from "./magika.ts";

const [model, ...files] = process.argv.slice(2);
if (model === undefined || files.length === 0) {
  console.error("npx tsx examples/magika/main.ts MODEL FILE...");
  process.exit(2);
}
const runtime = await createRuntime();
try {
  const magika = await Magika.load(runtime, model);
  console.log(`${model} · ${magika.target}`);
  for (const file of files) {
    const { label, score, modelLabel = "not asked" } = await magika.identify(await readFile(file));
    console.log(`  ${file}  ${label}  ${score.toFixed(4)}  (model: ${modelLabel})`);
  }
} finally {
  await runtime.dispose();
}
