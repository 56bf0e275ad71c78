/** Program of the child process in which a probe runs the tiny model; its answer is a sentence. A broken driver can abort the process that uses it. */
import type { Device } from "../../contract/backend.ts";
import { answerParent } from "../../platform/node/child-report.ts";
import { openUntested } from "./open-language-model.ts";
import { LlamaBuilds, loadNativeCode } from "./package.ts";
import { openRunRecord } from "./run-record.ts";
import { usualSelfTestKind } from "../gguf/self-test-model.ts";
import { runSelfTest } from "../gguf/self-test.ts";

/** Request to the child process. */
export interface TinyRunRequest {
  readonly device: Device;
  /** Whether the model runs even if a run passed before on this machine. */
  readonly full: boolean;
}

/** Runs the tiny model, unless a run passed before: then the package and the native code are loaded, and nothing is computed. GPUs are tried each time, since drivers change. */
await answerParent(async (request): Promise<string> => {
  const { device, full } = request as TinyRunRequest;
  const record =
    device.type === "cpu" ? openRunRecord("tiny model on llamacpp:cpu", import.meta.url, { forget: full }) : undefined;
  const [before] = record?.passed.names ?? [];
  if (record !== undefined && before !== undefined) {
    await loadNativeCode(record.build);
    const day = record.passed.since?.slice(0, 10) ?? "";
    return `a tiny model gives the right logits (remembered from ${day}; the libraries load); ${before}`;
  }
  if (full) record?.passed.add([]); // replaces the record, even if the run ends this process
  const { evidence } = await runSelfTest(usualSelfTestKind, (files) =>
    openUntested(files, device, { threads: 1 }, new LlamaBuilds()),
  );
  const [sentence = ""] = evidence;
  record?.passed.add([sentence]);
  return `a tiny model gives the right logits; ${sentence}`;
});
