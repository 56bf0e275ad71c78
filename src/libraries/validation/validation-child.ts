/** Program of the child process that loads a library to validate it. Its arguments: the absolute path, and the name of the contract. */
import { performance } from "node:perf_hooks";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { type ContractName, contracts } from "../contracts/index.ts";
import { ForeignFunctions, type NativeLibrary } from "../ffi/index.ts";
import { workForParent } from "./child-program.ts";
import type { CheckOutcome } from "./checks/checked-library.ts";
import { getChecks } from "./checks/index.ts";
import type { ValidationStepName } from "./library-validation.ts";
import { refusal } from "./refusal.ts";

const [path = "", name = ""] = process.argv.slice(2);
const contractName = name as ContractName;

await workForParent("RUN_FAILED", "the validation failed", async (tell) => {
  const ffi = await ForeignFunctions.load();
  const doStep = async <Outcome extends CheckOutcome>(step: ValidationStepName, run: () => Outcome): Promise<Outcome> => {
    await tell({ kind: "begin", step });
    const started = performance.now();
    const outcome = run();
    const milliseconds = Math.round((performance.now() - started) * 1000) / 1000;
    const { verdict = "passed", detail, version, structs, optional } = outcome;
    const facts = omitUndefined({ version, structs, optional });
    await tell({ kind: "step", step: { name: step, verdict, milliseconds, detail }, facts });
    return outcome;
  };
  const { library } = await doStep("loading", () => ({ detail: "the loader takes it", library: load(ffi) }));
  for (const { step, run } of getChecks(contractName)) {
    // In order: each step needs those before it.
    // oxlint-disable-next-line no-await-in-loop
    await doStep(step, () => run({ ffi, library, contract: contracts[contractName] }));
  }
});

function load(ffi: ForeignFunctions): NativeLibrary {
  try {
    return ffi.open(path);
  } catch (error) {
    if (!(error instanceof InferyardError) || error.code !== "LOAD_FAILED") throw error;
    throw refusal({
      path,
      contract: contractName,
      step: "loading",
      expected: "a library that the loader takes, with all its symbols bound (RTLD_NOW)",
      found: String(error.data["loader"]),
      remedy: "put what it needs beside it or into LD_LIBRARY_PATH; inferyard analyze-library says what it needs",
      cause: error,
    });
  }
}
