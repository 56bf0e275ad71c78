/** Checks of states, such as the keys and values of a decoder: appending to them, and operations on the states of several sequences, each in a block of its own. */
import { at } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import type { Value } from "../../ir/graph.ts";
import type { Operation } from "../../ir/operations.ts";
import { CaseBuilder, type CheckCase, floatTolerance, sequenceCount } from "./case-builder.ts";
import { ordinary } from "./check-values.ts";

/** Attention to appended keys, and copies, casts and products of appended rows. */
export function stateCases(): readonly CheckCase[] {
  return [
    stateCase("batched-matmul", [2, 4], (builder, keys) => {
      const product = { kind: "fused-matmul", a: [0, 1, 2, 3], b: [0, 2, 3, 1], result: [0, 1, 2, 3], alpha: 0.5 } as const;
      builder.node(product, [builder.input(ordinary("float32", [sequenceCount, 2, 3, 4], 5)), keys]);
    }),
    stateCase("batched-matmul", [4], (builder, rows) => {
      builder.node({ kind: "matmul" }, [rows, builder.input(ordinary("float32", [sequenceCount, 4, 3], 5))]);
    }),
    ...mixingCases(),
    stateCase("strided-copy", [2, 3], (builder, rows) => {
      const more = builder.input(ordinary("float32", [sequenceCount, 6, 1, 3], 5));
      builder.node({ kind: "concat", axis: 2 }, [more, rows]);
    }),
    stateCase("strided-copy", [5], (builder, rows) => {
      const more = builder.input(ordinary("float32", [sequenceCount, 6, 5], 5));
      builder.node(step({ kind: "binary", function: "sub" }, 2), [more, rows]);
    }),
    stateCase(
      "strided-copy",
      [5],
      (builder, rows) => void builder.node(step({ kind: "cast", to: "float32", saturate: false }, 1), [rows]),
      "float16",
    ),
  ];
}

function step(operation: Extract<Operation, { readonly kind: "binary" | "cast" }>, operands: number): Operation {
  return { kind: "elementwise", steps: [{ operation, operands: Array.from({ length: operands }, (_, index) => index) }] };
}

/** Operations that mix the sequences of a batch, or that read what the sequences share: planning must refuse them. */
function mixingCases(): readonly CheckCase[] {
  const queries = ordinary("float32", [sequenceCount, 2, 3, 4], 5);
  const product = { kind: "fused-matmul", a: [0, 1, 2, 3], b: [0, 2, 3, 1], result: [0, 1, 2, 3], alpha: 0.5 } as const;
  const mixing: readonly CheckCase[] = [
    stateCase("strided-copy", [2, 4], (builder, keys) => {
      const first = [1, 0, 2, 3];
      builder.node({ ...product, b: [2, 0, 3, 1], a: first, result: first }, [builder.input(queries), keys]);
    }),
    stateCase("strided-copy", [5], (builder, rows) => {
      builder.node(step({ kind: "binary", function: "sub" }, 2), [rows, builder.input(ordinary("float32", [6, 5]))]);
    }),
    stateCase("strided-copy", [5], (builder, rows) => {
      const shared = builder.input({ constant: ordinary("float32", [sequenceCount, 6, 5]) });
      builder.node(step({ kind: "binary", function: "sub" }, 2), [rows, shared]);
    }),
    stateCase("strided-copy", [5], (builder, rows) => {
      builder.node({ kind: "transpose", permutation: [1, 0, 2] }, [rows]);
    }),
  ];
  return mixing.map((each) => ({ ...each, isDeclined: true, isRefused: true }));
}

/** A case that appends two and one rows to the three of each sequence, and computes with all of them. `row`: shape of one row. */
function stateCase(
  name: string,
  row: readonly number[],
  compute: (builder: CaseBuilder, appended: Value) => void,
  type: ElementType = "float32",
): CheckCase {
  const builder = new CaseBuilder();
  const rows = [3, 2, 1].map((count, index) => builder.input(ordinary(type, [sequenceCount, count, ...row], index)));
  compute(builder, at(builder.node({ kind: "concat", axis: 1 }, rows), 0));
  return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance: floatTolerance, states: rows.slice(0, 1) };
}
