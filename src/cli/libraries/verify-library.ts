/** `inferyard libraries verify`: holds a library to its contract, and prints the steps. */
import { resolve } from "node:path";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { analyzeLibrary } from "../../libraries/analysis/index.ts";
import type { ContractName } from "../../libraries/contracts/index.ts";
import {
  type LibraryRefusal,
  type LibraryValidation,
  type ValidationStep,
  validateLibrary,
} from "../../libraries/validation/index.ts";
import { formatTable, printable } from "../output/table.ts";
import { type GlobalFlags, withNotice } from "../session.ts";
import { type Terminal, writeAll } from "../terminal.ts";

/** Columns that a text from a library may take. */
const maxColumns = 300;

/** The flags of `libraries`, of which verify has --json and --contract. */
export interface LibraryFlags extends GlobalFlags {
  readonly python?: string | true;
  readonly all?: boolean;
  readonly emit?: string;
  readonly accelerators?: boolean;
  readonly run?: boolean;
  readonly contract?: ContractName;
}

const flagsOfList = ["python", "all", "emit", "accelerators", "run"] as const;

/** Prints the steps. Throws LIBRARY_INCOMPATIBLE, after its steps are printed, and INPUT_INVALID for an action that is not verify or flags it has not. */
export async function verifyLibrary(
  action: string,
  path: string | undefined,
  flags: LibraryFlags,
  terminal: Terminal,
): Promise<void> {
  const { directory, environment, signal, stdout } = terminal;
  if (action !== "verify" || path === undefined) throw usage(`libraries ${action} ${path ?? ""}`.trim());
  for (const flag of flagsOfList) {
    if (flags[flag] !== undefined) throw usage(`libraries verify --${flag}`);
  }
  const file = resolve(directory, path);
  const contract = flags.contract ?? (await getContract(file, path, environment));
  try {
    const validating = validateLibrary(file, contract, { displayName: path, environment, signal });
    const validation = await withNotice(terminal, "loading the library in a child process", validating);
    const text = flags.json === true ? JSON.stringify(validation) : formatValidation(validation);
    await writeAll(stdout, `${text}\n`);
  } catch (error) {
    const isRefusal = error instanceof InferyardError && error.code === "LIBRARY_INCOMPATIBLE";
    if (isRefusal && flags.json !== true) {
      const { steps = [] } = error.data as Partial<LibraryRefusal>;
      await writeAll(stdout, `${formatSteps(steps)}\n`);
    }
    throw error;
  }
}

function usage(asked: string): InferyardError {
  return invalidInput(
    `there is no command "inferyard ${asked}"`,
    "inferyard libraries verify PATH [--contract NAME], or inferyard libraries",
  );
}

async function getContract(
  file: string,
  displayName: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ContractName> {
  const { contract, classes } = await analyzeLibrary(file, { displayName, environment });
  if (contract !== undefined) return contract.name;
  const [first] = classes;
  throw invalidInput(
    first === undefined
      ? `${displayName} is none of the libraries that a contract is written for`
      : `no contract is written for ${first.title}, which ${displayName} is`,
    "name one by --contract: llama, ggml, onnxruntime, pjrt, bitnet",
  );
}

/** The library and its contract, then the steps. */
function formatValidation({ path, title, version, contract, steps }: LibraryValidation): string {
  const isProved = steps.every(({ verdict }) => verdict === "passed");
  const headline = [
    path,
    version === undefined ? title : `${title} ${printable(version, 80)}`,
    isProved ? `keeps the contract ${contract}` : `has the functions of the contract ${contract}`,
  ].join("   ");
  return [headline, formatSteps(steps)].join("\n");
}

function formatSteps(steps: readonly ValidationStep[]): string {
  return formatTable(
    steps.map(({ name, verdict, milliseconds, detail }) => [
      name,
      verdict,
      `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`,
      printable(detail, maxColumns),
    ]),
  );
}
