/** What filters, tests and functions need of the rendering that calls them. */
import type { Arguments, Value } from "../values/values.ts";
import { Bound } from "./arguments.ts";
import type { MethodContext } from "./text-methods.ts";

/** One rendering, as built-in functions see it. */
export interface Environment extends MethodContext {
  /** Time that `strftime_now` returns. */
  readonly now: Date;
  /** Throws TemplateFailure for a filter that Jinja2 has not. */
  readonly callFilter: (name: string, value: Value, given: Arguments) => Value;
  /** Throws TemplateFailure for a test that Jinja2 has not. */
  readonly callTest: (name: string, value: Value, given: Arguments) => boolean;
}

/** A filter: the value before the bar, and the arguments in parentheses. */
export type Filter = (value: Value, given: Arguments, environment: Environment) => Value;

/** A test: the value before `is`, and the arguments. */
export type Test = (value: Value, given: Arguments, environment: Environment) => boolean;

/** A filter by its name, whose parameters have these names. */
export function filter(
  name: string,
  names: readonly string[],
  run: (value: Value, given: Bound, environment: Environment) => Value,
): [string, Filter] {
  return [name, (value, given, environment) => run(value, new Bound(name, names, given), environment)];
}
