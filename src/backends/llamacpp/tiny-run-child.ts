/** Program of the child process of `tiny-run.ts`. argv[2] is the request as JSON; the last line of stdout is the report. */
import { getMessage } from "../../contract/errors.ts";
import { openUntested } from "./open-language-model.ts";
import { LlamaBuilds, loadNativeCode } from "./package.ts";
import { openRunRecord } from "./run-record.ts";
import { usualKind } from "../gguf/self-test-model.ts";
import { runSelfTest } from "../gguf/self-test.ts";
import type { ChildReport, ChildRequest } from "./tiny-run.ts";

/** Runs the tiny model, unless a run passed before: then the package and the native code are loaded, and nothing is computed. GPUs are tried each time, since drivers change. */
async function run({ device, full }: ChildRequest): Promise<ChildReport> {
  const record =
    device.type === "cpu" ? openRunRecord("tiny model on llamacpp:cpu", import.meta.url, { forget: full }) : undefined;
  const [before] = record?.passed.names ?? [];
  if (record !== undefined && before !== undefined) {
    await loadNativeCode(record.build);
    const day = record.passed.since?.slice(0, 10) ?? "";
    return { ok: true, sentence: `a tiny model gives the right logits (remembered from ${day}; the libraries load); ${before}` };
  }
  if (full) record?.passed.add([]); // replaces the record, even if the run ends this process
  const { evidence } = await runSelfTest(usualKind, (files) => openUntested(files, device, { threads: 1 }, new LlamaBuilds()));
  const [sentence = ""] = evidence;
  record?.passed.add([sentence]);
  return { ok: true, sentence: `a tiny model gives the right logits; ${sentence}` };
}

const report = await run(JSON.parse(process.argv[2] ?? "") as ChildRequest).catch((error: unknown): ChildReport => ({
  ok: false,
  message: getMessage(error),
}));
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit());
