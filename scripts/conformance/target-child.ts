/** The process of one target: takes cases, answers with an outcome for each, in order. */
import { judge, type OpenCase, openInterpreter, openNative, type Outcome } from "./judge.ts";
import { isDead, openOnnxRuntime } from "./onnxruntime.ts";
import type { Target, Work } from "./targets.ts";
import { openerOnXla } from "./xla.ts";

async function openerOf(target: Target): Promise<OpenCase> {
  if (target === "xla") return await openerOnXla(process.env["PJRT_PLUGIN_LIBRARY_PATH"]);
  if (target === "native") return openNative;
  if (target === "interpreter") return openInterpreter;
  return openOnnxRuntime(target === "onnx" ? "onnxruntime-node" : "onnxruntime-web");
}

async function tell(message: Outcome | "ready"): Promise<void> {
  await new Promise((resolve) => process.send?.(message, resolve));
}

process.once("message", (work: Work) => {
  void (async () => {
    const open = await openerOf(work.target);
    await tell("ready");
    for (const each of work.cases) {
      const outcome = await judge(each, open);
      await tell(outcome);
      if (work.target === "wasm" && outcome.verdict === "failed" && isDead(new Error(outcome.reason))) break;
    }
    process.exit(0); // libraries may hold threads that keep the process
  })();
});
