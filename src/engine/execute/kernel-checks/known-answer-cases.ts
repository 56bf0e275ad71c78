/** Known-answer self-tests of the kernels that multiply quantized weights, by their ids. */
import type { KernelEntry } from "../../../kernels/kernel-entry.ts";
import { formatVariants } from "../../../kernels/registry.ts";
import { knownAnswer } from "../../../kernels/known-answers.ts";
import { LazyStorage, type QuantizedBlocks, transposedValues } from "../../ir/lazy-storage.ts";
import { literalWithStorage } from "../../ir/literal.ts";
import type { BlockKernel } from "../../lower/lowered-node.ts";
import { type CheckCase, single } from "./case-builder.ts";

/** Rows of activations: one, for which codes are read in their order in memory; a whole tile of four and a rest of three; for machine code also tiles of 8 and 12, and other rests. */
const rowCounts: Readonly<Record<KernelEntry["implementation"]["kind"], readonly number[]>> = {
  wasm: [1, 7],
  machine: [1, 3, 6, 11, 14],
  scalar: [1, 3],
  llama: [],
  none: [],
};
/** Columns at least: several groups of activations. */
const minColumns = 256;

/** The self-test of a kernel for weights of a format. The expected results come from the reference decoder, summed in float64. */
export function knownAnswerCases(
  { type, format }: Pick<QuantizedBlocks, "type" | "format">,
  { id, implementation, tolerance, columnMultiple, rowMultiple = 1, activationGroup }: KernelEntry,
  blockKernel: BlockKernel,
): readonly CheckCase[] {
  const columns = columnMultiple * Math.ceil(minColumns / columnMultiple) * (columnMultiple >= minColumns ? 2 : 1);
  const all = formatVariants(type, format).flatMap((variant) =>
    rowCounts[implementation.kind].map((rows) => ({ variant, rows })),
  );
  return all.map(({ variant, rows }) => {
    const answer = knownAnswer(variant, {
      columns,
      activationRows: rows,
      rowMultiple,
      activationGroup: Math.min(activationGroup, variant.elements),
    });
    const { bytes, weightRows } = answer;
    const blocks: QuantizedBlocks = { type, format: variant, rows: weightRows, columns, read: () => bytes };
    const source = { materialize: () => transposedValues(variant, bytes, weightRows, columns) };
    const weights = literalWithStorage(new LazyStorage(undefined, source, blocks), "float32", [columns, weightRows]);
    const activations = { dataType: "float32", shape: [rows, columns], data: answer.activations } as const;
    const operation = { kind: "linear", bias: false, activation: "none", residual: "none" } as const;
    return {
      ...single(id, operation, [activations, { constant: weights }], tolerance),
      magnitudes: answer.magnitudes,
      expected: () => [{ dataType: "float64", shape: [rows, weightRows], data: answer.expected }],
      blockKernel,
    };
  });
}
