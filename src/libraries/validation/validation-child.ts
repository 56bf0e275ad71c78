/** Program of the child process that loads a library to validate it. Its arguments: the absolute path, and the name of the contract. */
import { performance } from "node:perf_hooks";
import { InferyardError, wrapError } from "../../contract/errors.ts";
import { watchParent } from "../../hosts/parent-watchdog.ts";
import { type ContractName, contracts } from "../contracts/index.ts";
import { ForeignFunctions, type NativeLibrary } from "../ffi/index.ts";
import type { ChildMessage } from "./child-messages.ts";
import { getChecks } from "./checks/index.ts";
import type { ValidationStepName } from "./library-validation.ts";
import { refusal } from "./refusal.ts";

const [path = "", name = ""] = process.argv.slice(2);

watchParent();
process.on("disconnect", () => process.exit(0));
await validate(path, name as ContractName);

/** Does all steps, and stays: the parent ends this process, since the destructors of a library may crash. */
async function validate(file: string, contractName: ContractName): Promise<void> {
  const contract = contracts[contractName];
  let started = performance.now();
  const begin = async (step: ValidationStepName): Promise<void> => {
    await tell({ kind: "begin", step });
    started = performance.now();
  };
  const elapsed = (): number => Math.round((performance.now() - started) * 1000) / 1000;
  try {
    const ffi = await ForeignFunctions.load();
    await begin("loading");
    const library = load(ffi, file, contractName);
    const loaded = { name: "loading", verdict: "passed", milliseconds: elapsed(), detail: "the loader takes it" } as const;
    await tell({ kind: "step", step: loaded, facts: {} });
    for (const { step, run } of getChecks(contractName)) {
      // In order: each step needs those before it.
      // oxlint-disable-next-line no-await-in-loop
      await begin(step);
      const { verdict = "passed", detail, ...facts } = run({ ffi, library, contract });
      // oxlint-disable-next-line no-await-in-loop
      await tell({ kind: "step", step: { name: step, verdict, milliseconds: elapsed(), detail }, facts });
    }
    await tell({ kind: "done" });
  } catch (error) {
    await tell({
      kind: "failed",
      error: wrapError(error, "RUN_FAILED", "the validation failed").toJSON(),
      milliseconds: elapsed(),
    });
  }
}

function load(ffi: ForeignFunctions, file: string, contract: ContractName): NativeLibrary {
  try {
    return ffi.open(file);
  } catch (error) {
    if (!(error instanceof InferyardError) || error.code !== "LOAD_FAILED") throw error;
    throw refusal({
      path: file,
      contract,
      step: "loading",
      expected: "a library that the loader takes, with all its symbols bound (RTLD_NOW)",
      found: String(error.data["loader"]),
      remedy: "put what it needs beside it or into LD_LIBRARY_PATH; inferyard analyze-library says what it needs",
      cause: error,
    });
  }
}

/** Sends a message, and waits until the system has it. */
async function tell(message: ChildMessage): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}
