/** Program of the child process of `tiny-run.ts`. argv[2] is the device as JSON; the last line of stdout is the report. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Device } from "../../contract/backend.ts";
import { messageOf } from "../../contract/errors.ts";
import { openLanguageModel } from "./open-language-model.ts";
import { LlamaBuilds } from "./package.ts";
import { tinyContinuation, tinyModel, tinyPrompt } from "../gguf/tiny-model.ts";
import type { ChildReport } from "./tiny-run.ts";

async function run(device: Device): Promise<ChildReport> {
  const folder = await mkdtemp(join(tmpdir(), "inferyard-llamacpp-"));
  try {
    const path = join(folder, "model.gguf");
    const bytes = tinyModel();
    await writeFile(path, bytes);
    const files = { format: "gguf", path, bytes: bytes.length, config: {} } as const;
    const model = await openLanguageModel(files, device, { threads: 1 }, new LlamaBuilds());
    const sequence = await model.createSequence();
    const tokens: number[] = [];
    for (let next = tinyPrompt; tokens.length < tinyContinuation.length; next = tokens.slice(-1)) {
      const [logits = new Float32Array()] = await model.decode([{ sequence, tokens: next }]);
      tokens.push(logits.indexOf(logits.reduce((a, b) => Math.max(a, b))));
    }
    const [sentence = ""] = await model.evidence();
    if (tokens.join() === tinyContinuation.join())
      return { ok: true, sentence: `a tiny model gives the right tokens; ${sentence}` };
    return {
      ok: false,
      message: `a tiny model gives the tokens ${tokens.join(", ")}, and ${tinyContinuation.join(", ")} are right`,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const report = await run(JSON.parse(process.argv[2] ?? "") as Device).catch((error: unknown): ChildReport => ({
  ok: false,
  message: messageOf(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
