/** A tiny program with known answers, which proves that a device compiles and computes. */
import { InferyardError } from "../../contract/errors.ts";
import type { PjrtClient } from "./pjrt/client.ts";

const matrix = { dataType: "float32", shape: [2, 2] } as const;
const type = "tensor<2x2xf32>";

/** tanh(a b) + a */
const text = `func.func public @main(%a: ${type}, %b: ${type}) -> ${type} {
  %0 = "stablehlo.dot_general"(%a, %b) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (${type}, ${type}) -> ${type}
  %1 = "stablehlo.tanh"(%0) : (${type}) -> ${type}
  %2 = "stablehlo.add"(%1, %a) : (${type}, ${type}) -> ${type}
  "func.return"(%2) : (${type}) -> ()
}`;

/** tanh of [[0.5, -0.25], [1, 0.75]] times [[1, 2], [0.5, -1]], plus the first matrix. */
const answers = [0.5, -0.25, 1, 0.75];
const right = [Math.tanh(0.375) + 0.5, Math.tanh(1.25) - 0.25, Math.tanh(1.375) + 1, Math.tanh(1.25) + 0.75];
const tolerance = 1e-5;

/** Compiles and runs the program. Throws VERIFICATION_FAILED for wrong results, and RUN_FAILED with the plugin's message. */
export function testDevice(client: PjrtClient): void {
  const program = client.compile(text, { arguments: [matrix, matrix], results: [matrix] });
  const given = [answers, [1, 2, 0.5, -1]].map((values) => client.upload({ type: matrix, data: Float32Array.from(values) }));
  const results = program.run(given);
  const computed = [...((results[0]?.read().data ?? []) as Float32Array)];
  for (const each of [...given, ...results, program]) each.dispose();
  if (
    computed.length === right.length &&
    right.every((value, index) => Math.abs(value - (computed[index] ?? Number.NaN)) < tolerance)
  )
    return;
  throw new InferyardError("VERIFICATION_FAILED", `a tiny program gives ${computed.join(", ")} in place of ${right.join(", ")}`);
}
