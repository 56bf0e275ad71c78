/** The tests of Jinja2: what may follow `is`. */
import type { ComparisonOperator } from "../syntax/nodes.ts";
import { areEqual, isTrue } from "../values/comparison.ts";
import { isIterable } from "../values/iteration.ts";
import { toText } from "../values/text.ts";
import {
  Callable,
  Dict,
  Float,
  Markup,
  ObjectValue,
  Undefined,
  type TemplateValue,
  toInteger,
  getText,
} from "../values/values.ts";
import { Bound, refuseArguments } from "./arguments.ts";
import { arithmetic, comparisons } from "./operators.ts";
import type { TemplateEnvironment, Test } from "./environment.ts";
import { filters } from "./filters.ts";
import { isSequenceValue } from "./sequence-filters.ts";
import { textMethods } from "./text-methods.ts";

/** A test without arguments. */
function plain(name: string, holds: (value: TemplateValue, environment: TemplateEnvironment) => boolean): [string, Test] {
  return [
    name,
    (value, given, environment) => {
      refuseArguments(name, given);
      return holds(value, environment);
    },
  ];
}

/** A test with one argument. */
function binary(
  names: readonly string[],
  holds: (value: TemplateValue, other: TemplateValue, environment: TemplateEnvironment) => boolean,
): [string, Test][] {
  return names.map((name) => [
    name,
    (value, given, environment) => holds(value, new Bound(name, ["other"], given).value("other"), environment),
  ]);
}

const comparison = (names: readonly string[], operator: ComparisonOperator): [string, Test][] =>
  binary(names, (value, other, { budget }) => comparisons[operator](value, other, budget));

function remainder(value: TemplateValue, divisor: TemplateValue, { budget }: TemplateEnvironment): TemplateValue {
  return arithmetic("%", value, divisor, budget);
}

/** Tests by name. */
export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  plain("odd", (value, environment) => areEqual(remainder(value, 2, environment), 1, environment.budget)),
  plain("even", (value, environment) => areEqual(remainder(value, 2, environment), 0, environment.budget)),
  ...binary(["divisibleby"], (value, by, environment) => areEqual(remainder(value, by, environment), 0, environment.budget)),
  plain("defined", (value) => !(value instanceof Undefined)),
  plain("undefined", (value) => value instanceof Undefined),
  plain("filter", (value) => filters.has(getText(value) ?? "")),
  plain("test", (value) => tests.has(getText(value) ?? "")),
  plain("none", (value) => value === null),
  plain("boolean", (value) => typeof value === "boolean"),
  plain("true", (value) => value === true),
  plain("false", (value) => value === false),
  plain("integer", (value) => typeof value === "number" || typeof value === "bigint"),
  plain("float", (value) => value instanceof Float),
  plain("number", (value) => toInteger(value) !== undefined || value instanceof Float),
  plain("string", (value) => getText(value) !== undefined),
  plain("mapping", (value) => value instanceof Dict),
  plain("sequence", isSequenceValue),
  plain("iterable", isIterable),
  plain(
    "callable",
    (value) =>
      value instanceof Callable || value instanceof Undefined || (value instanceof ObjectValue && value.call !== undefined),
  ),
  plain("escaped", (value) => value instanceof Markup),
  plain("lower", (value, environment) => textQuestion("islower", value, environment)),
  plain("upper", (value, environment) => textQuestion("isupper", value, environment)),
  ...binary(["sameas"], (value, other) => value === other || (value instanceof Undefined && other === value)),
  ...comparison(["in"], "in"),
  ...comparison(["==", "eq", "equalto"], "=="),
  ...comparison(["!=", "ne"], "!="),
  ...comparison([">", "gt", "greaterthan"], ">"),
  ...comparison([">=", "ge"], ">="),
  ...comparison(["<", "lt", "lessthan"], "<"),
  ...comparison(["<=", "le"], "<="),
]);

function textQuestion(name: "islower" | "isupper", value: TemplateValue, environment: TemplateEnvironment): boolean {
  const answer = textMethods.get(name)?.(toText(value, environment.budget), { positional: [], named: new Map() }, environment);
  return answer !== undefined && isTrue(answer);
}
