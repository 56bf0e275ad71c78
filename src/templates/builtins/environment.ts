/** What filters, tests and functions need of the rendering that calls them. */
import type { Arguments, TemplateValue } from "../values/values.ts";
import { Bound } from "./arguments.ts";
import type { MethodContext } from "./text-methods.ts";

/** One rendering, as built-in functions see it. */
export interface TemplateEnvironment extends MethodContext {
  /** Time that `strftime_now` returns. */
  readonly now: Date;
  /** Throws TemplateFailure for a filter that Jinja2 has not. */
  readonly callFilter: (name: string, value: TemplateValue, given: Arguments) => TemplateValue;
  /** Throws TemplateFailure for a test that Jinja2 has not. */
  readonly callTest: (name: string, value: TemplateValue, given: Arguments) => boolean;
}

/** A filter: the value before the bar, and the arguments in parentheses. */
export type Filter = (value: TemplateValue, given: Arguments, environment: TemplateEnvironment) => TemplateValue;

/** A test: the value before `is`, and the arguments. */
export type Test = (value: TemplateValue, given: Arguments, environment: TemplateEnvironment) => boolean;

/** A filter by its name, whose parameters have these names. */
export function filter(
  name: string,
  names: readonly string[],
  run: (value: TemplateValue, given: Bound, environment: TemplateEnvironment) => TemplateValue,
): [string, Filter] {
  return [name, (value, given, environment) => run(value, new Bound(name, names, given), environment)];
}
