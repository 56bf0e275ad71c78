/** Validates a native library against a contract: it is loaded in a child process, and its binary interface is proved. */
import { performance } from "node:perf_hooks";
import { resolve } from "node:path";
import { InferyardError, invalidInput } from "../../contract/errors.ts";
import { analyzeLibrary } from "../analysis/index.ts";
import { type ContractName, contracts } from "../contracts/index.ts";
import type { StepFacts, StepMessage } from "./child-messages.ts";
import type {
  LibraryRefusal,
  LibraryValidation,
  ValidateOptions,
  ValidationStep,
  ValidationStepName,
} from "./library-validation.ts";
import { type RefusalFacts, refusal } from "./refusal.ts";
import { runWatchedProcess } from "./watched-process.ts";

const defaultTimeoutMs = 20_000;
const defaultMaxMemory = 4 * 2 ** 30;

/**
 * Validates the library at `path` against a contract. Its tables are analyzed first; then a child process loads it, looks for the functions, and calls the
 * functions that return its version and prove its binary interface. Throws LIBRARY_INCOMPATIBLE with the expected and the found values (its data is a
 * `LibraryRefusal`), INPUT_INVALID for a file that is not a library, and BACKEND_UNAVAILABLE if koffi is not installed.
 */
export async function validateLibrary(
  path: string,
  contract: ContractName,
  options: ValidateOptions = {},
): Promise<LibraryValidation> {
  const { displayName = path, environment = process.env, signal } = options;
  const known = Object.hasOwn(contracts, contract) ? contracts[contract] : undefined;
  if (known === undefined) {
    const names = Object.keys(contracts).join(", ");
    throw invalidInput(`there is no contract "${contract}"`, `name one of ${names}`);
  }
  const { timeout = defaultTimeoutMs, maxMemory = defaultMaxMemory } = options;
  requirePositive("timeout", timeout, maxTimerMs);
  requirePositive("maxMemory", maxMemory, Number.MAX_SAFE_INTEGER);
  const file = resolve(path);
  const validation = new Validation(displayName, contract);
  await validation.analyze(file, environment);
  const { failure, lastLines } = await runWatchedProcess<StepMessage>({
    program: new URL("./validation-child.ts", import.meta.url),
    arguments: [file, contract],
    timeout,
    maxMemory,
    environment,
    signal,
    onMessage: (message) => {
      switch (message.kind) {
        case "begin":
          return validation.begin(message.step);
        case "step":
          return validation.pass(message.step, message.facts);
        case "failed":
          return validation.fail(InferyardError.fromJSON(message.error));
        case "done":
          return undefined;
        default:
          return message satisfies never;
      }
    },
  });
  validation.close(failure, lastLines);
  return { path: displayName, contract, title: known.title, ...validation.facts, steps: validation.steps };
}

/** Milliseconds that a timer of Node.js can wait. */
const maxTimerMs = 2 ** 31 - 1;

function requirePositive(name: string, value: number, most: number): void {
  if (value > 0 && value <= most) return;
  throw invalidInput(`${name} is ${value}`, `give a number above 0, up to ${most}`);
}

/** The steps of one validation, as they are reported. */
class Validation {
  readonly steps: ValidationStep[] = [];
  facts: Omit<LibraryValidation, "path" | "contract" | "title" | "steps"> = { version: undefined, structs: [], optional: {} };
  readonly #path: string;
  readonly #contract: ContractName;
  #current: ValidationStepName = "analysis";
  #begun = performance.now();
  #failure: InferyardError | undefined;

  constructor(path: string, contract: ContractName) {
    this.#path = path;
    this.#contract = contract;
  }

  /** Whether the file fits this machine, by its tables. */
  async analyze(file: string, environment: Readonly<Record<string, string | undefined>>): Promise<void> {
    const { classes, fit } = await analyzeLibrary(file, { displayName: this.#path, environment });
    if (!fit.fits) {
      throw this.#refused({
        expected: "a library that this machine and program can load",
        found: fit.problems.join("; "),
        remedy: `inferyard analyze-library ${this.#path} says what it needs`,
      });
    }
    const names = classes.map(({ title }) => title).join(", ");
    const detail = names === "" ? "fits this machine; no known library" : `fits this machine; ${names}`;
    this.steps.push({ name: "analysis", verdict: "passed", milliseconds: this.#elapsed(), detail });
    this.begin("loading");
  }

  begin(step: ValidationStepName): void {
    this.#current = step;
    this.#begun = performance.now();
  }

  pass(step: ValidationStep, facts: StepFacts): void {
    this.steps.push(step);
    this.facts = { ...this.facts, ...facts };
  }

  fail(error: InferyardError): void {
    const { data, code, remedy = "" } = error;
    const { expected = error.message, found = "", details = [] } = data as Partial<LibraryRefusal>;
    this.#failure = code === "LIBRARY_INCOMPATIBLE" ? this.#refused({ expected, found, details, remedy }) : error;
  }

  /** Throws if a step was refused, or the process was ended in one. */
  close(failure: string | undefined, lastLines: readonly string[]): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (failure === undefined) return;
    throw this.#refused({
      expected: `a library that the process survives (${describe[this.#current]})`,
      found: failure,
      details: lastLines,
      lastLines,
      remedy: "use another build of the library; nothing of it was used outside of the child process",
    });
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#begun);
  }

  #refused(facts: Omit<RefusalFacts, "path" | "contract" | "step" | "steps">): InferyardError {
    const step = this.#current;
    const refused: ValidationStep = { name: step, verdict: "refused", milliseconds: this.#elapsed(), detail: facts.found };
    return refusal({
      path: this.#path,
      contract: this.#contract,
      step,
      steps: [...this.steps, refused],
      lastLines: [],
      ...facts,
    });
  }
}

/** What of the library runs in each step. */
const describe: Readonly<Record<ValidationStepName, string>> = {
  analysis: "nothing of it runs",
  loading: "its constructors run",
  functions: "nothing of it runs",
  version: "functions that tell its version run",
  abi: "functions that fill structs run",
  devices: "functions that list its devices run",
};
