/** The process of one target: takes cases, answers with an outcome for each, in order. */
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { InferyardError } from "../../src/contract/errors.ts";
import type { MachineCode } from "../../src/engine/codegen/x64/index.ts";
import { judge, type OpenCase, openInterpreter, openNativeWith, type Outcome } from "./judge.ts";
import { isDead, openOnnxRuntime } from "./onnxruntime.ts";
import type { Target, Work } from "./targets.ts";
import { openerOnXla } from "./xla.ts";

async function openerOf(target: Target): Promise<OpenCase> {
  if (target === "xla") return await openerOnXla(process.env["PJRT_PLUGIN_LIBRARY_PATH"]);
  if (target === "native") return openNativeWith(machineCodeSource());
  if (target === "interpreter") return openInterpreter;
  return openOnnxRuntime(target === "onnx" ? "onnxruntime-node" : "onnxruntime-web");
}

/** Machine code as a loaded model has it: none where the machine has none, or INFERYARD_MACHINE_CODE turns it off. */
function machineCodeSource(): (() => MachineCode) | undefined {
  try {
    return openMachineCode?.().create;
  } catch (error) {
    if (error instanceof InferyardError && error.code === "BACKEND_UNAVAILABLE") return undefined;
    throw error;
  }
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
