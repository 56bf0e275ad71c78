/** Program of the child process of `tiny-run.ts`. argv[2] is the request as JSON; the last line of stdout is the report. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Device } from "../../contract/backend.ts";
import { messageOf } from "../../contract/errors.ts";
import { openLanguageModel } from "./open-language-model.ts";
import { LlamaBuilds, loadNativeCode } from "./package.ts";
import { openRunRecord } from "./run-record.ts";
import { tinyContinuation, tinyModel, tinyPrompt } from "../gguf/tiny-model.ts";
import type { ChildReport, ChildRequest } from "./tiny-run.ts";

/** Runs the tiny model, unless a run passed before: then the package and the native code are loaded, and nothing is computed. GPUs are tried each time, since drivers change. */
async function run({ device, full }: ChildRequest): Promise<ChildReport> {
  const record = device.type === "cpu" ? openRunRecord(import.meta.url, { forget: full }) : undefined;
  const [before] = record?.passed.names ?? [];
  if (record !== undefined && before !== undefined) {
    await loadNativeCode(record.build);
    const day = record.passed.since?.slice(0, 10) ?? "";
    return { ok: true, sentence: `a tiny model gives the right tokens (remembered from ${day}; the libraries load); ${before}` };
  }
  if (full) record?.passed.add([]); // replaces the record, even if the run ends this process
  const { tokens, sentence } = await continuePrompt(device);
  if (tokens.join() !== tinyContinuation.join()) {
    const message = `a tiny model gives the tokens ${tokens.join(", ")}, and ${tinyContinuation.join(", ")} are right`;
    return { ok: false, message };
  }
  record?.passed.add([sentence]);
  return { ok: true, sentence: `a tiny model gives the right tokens; ${sentence}` };
}

/** The tokens with which the tiny model continues its prompt, and what llama.cpp says of the run. */
async function continuePrompt(device: Device): Promise<{ readonly tokens: readonly number[]; readonly sentence: string }> {
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
    return { tokens, sentence };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const report = await run(JSON.parse(process.argv[2] ?? "") as ChildRequest).catch((error: unknown): ChildReport => ({
  ok: false,
  message: messageOf(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
