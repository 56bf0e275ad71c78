/**
 * The checks that run when models are loaded, in groups: of each kernel family of generated code and of the steps of elementwise chains, and of the decoders,
 * encoders and kernels of each format of weights; each with the features of this machine, and with plain SIMD. `mutate` runs them on mutants.
 *
 * Run with numbers of groups, it exits with 1 and prints what is wrong at the first group that fails. Run with `--blocks FILE`, it writes which blocks each
 * group enters; see `withCounters`.
 */
import { writeFileSync } from "node:fs";
import { detectWasmFeatures, KernelChecks } from "../../src/engine/index.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { casesOfFamily, checkedFamilies } from "../../src/engine/execute/kernel-checks/check-cases.ts";
import { elementwiseFunctions } from "../../src/engine/execute/kernel-checks/elementwise-functions.ts";
import { readAnswerTable } from "../../src/engine/execute/interpreter-checks/read-answers.ts";
import { InterpreterAnswers } from "../../src/engine/execute/interpreter-checks/known-answers.ts";
import { findDecoderProblem } from "../../src/formats/answers/decoder-answers.ts";
import { findEncoderProblem, findPackingProblem } from "../../src/formats/answers/encoder-answers.ts";
import { multipliedFormats } from "../../src/kernels/registry.ts";

/** A group of checks. Throws, or returns what is wrong; undefined if nothing is. */
type CheckGroup = () => string | undefined;

/** Steps of elementwise chains in a group. */
const stepsAtOnce = 100;

function groups(): readonly CheckGroup[] {
  const best = detectWasmFeatures(enableRelaxedSimd);
  return [best, { ...best, relaxedSimd: false, byteDot: "none" } as const].flatMap((features) => {
    const group = (run: (checks: KernelChecks) => void): CheckGroup => {
      return () => {
        const checks = new KernelChecks(features);
        run(checks);
        return checks.failed.map(({ name, problem }) => `${name}: ${problem}`)[0];
      };
    };
    const groupCount = 10;
    return [
      ...checkedFamilies.map((family) => group((checks) => checks.check(casesOfFamily(family)))),
      ...Array.from({ length: groupCount }, (_, index) =>
        group((checks) => checks.check(elementwiseFunctions().slice(index * stepsAtOnce, (index + 1) * stepsAtOnce))),
      ),
      ...Object.entries(multipliedFormats).map(([type, format]) => group((checks) => checks.testBlockKernels({ type, format }))),
    ];
  });
}

/** Types of numbers, and those that are only unpacked; kernels test the decoders of the others. */
const decoded = ["F32", "F64", "F16", "BF16", "I8", "I16", "I32", "I2_S", "TL1", "TL2"];
const encoded = ["Q8_0", "Q4_0", "Q4_K", "TQ2_0", "I2_S", "F16", "F32"] as const;

const answers = new InterpreterAnswers(await readAnswerTable());
const all = [
  ...groups(),
  ...decoded.map(
    (type): CheckGroup =>
      () =>
        findDecoderProblem(type),
  ),
  ...encoded.map(
    (type): CheckGroup =>
      () =>
        findEncoderProblem(type),
  ),
  ...(["int8", "int4"] as const).map(
    (type): CheckGroup =>
      () =>
        findPackingProblem(type),
  ),
  ...answers.names.map((name): CheckGroup => {
    return () => {
      const problem = answers.findProblem(name);
      return problem === undefined ? undefined : `${name}: ${problem}`;
    };
  }),
];
const [first, file] = process.argv.slice(2);
if (first === "--blocks" && file !== undefined) {
  const entered = ((globalThis as { enteredBlocks?: Set<number> }).enteredBlocks ??= new Set());
  const atStart = [...entered]; // by all groups: tables that modules make when they are loaded
  const blocksOfGroups = all.map((run) => {
    entered.clear();
    const problem = run();
    if (problem !== undefined) throw new Error(`the checks fail without a mutation: ${problem}`);
    return [...new Set([...atStart, ...entered])];
  });
  writeFileSync(file, JSON.stringify(blocksOfGroups));
} else {
  for (const number of process.argv.slice(2)) {
    const problem = all[Number(number)]?.();
    if (problem === undefined) continue;
    console.log(problem);
    process.exit(1);
  }
}
