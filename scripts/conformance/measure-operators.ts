/** Which operators generated kernels compute, and for which element types: every conformance case of one operator is run. */
import { readFileSync } from "node:fs";
import { readOnnxModel } from "../../src/engine/index.ts";
import type { OperatorTypes } from "../generate/pages/operators-page.ts";
import { dataSets, findCases, readValues } from "./cases.ts";
import { runsOnKernels } from "./native.ts";
import { operatorsOf, several } from "./operators.ts";

/** By operator, "domain:Name" outside of the standard domain. A case's type is that of its first input, or of its output where it takes nothing. */
export async function measureOperators(data: string): Promise<Readonly<Record<string, OperatorTypes>>> {
  const cases = findCases(data).filter(({ name }) => !name.includes("_expanded"));
  const operators = operatorsOf(cases);
  /** By operator and type: whether kernels computed each case. */
  const found = new Map<string, Map<string, boolean[]>>();
  for (const each of cases) {
    const operator = operators.get(each.name) ?? several;
    if (operator === several) continue;
    const { model } = readOnnxModel(readFileSync(each.modelPath), each.modelPath);
    const [type] = [...model.graph.inputs, ...model.graph.outputs].map((value) => value.type);
    const [folder] = dataSets(each);
    if (type === undefined || folder === undefined) continue;
    const inputs = readValues(
      folder,
      "input",
      model.graph.inputs.map((value) => value.type),
    );
    const onKernels = await runsOnKernels(model, inputs).catch(() => undefined); // refused: neither computes it
    if (onKernels === undefined) continue;
    const types = found.get(operator) ?? new Map<string, boolean[]>();
    const name = type.kind === "tensor" ? type.dataType : type.kind;
    types.set(name, [...(types.get(name) ?? []), onKernels]);
    found.set(operator, types);
  }
  const named = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    named.map(([operator, types]): [string, OperatorTypes] => {
      const of = (wanted: (all: boolean, some: boolean) => boolean): string[] =>
        [...types].flatMap(([type, each]) => (wanted(!each.includes(false), each.includes(true)) ? [type] : [])).toSorted();
      return [
        operator,
        { kernels: of((all) => all), partly: of((all, some) => some && !all), interpreter: of((_all, some) => !some) },
      ];
    }),
  );
}
