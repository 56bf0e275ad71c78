/** Run-time type checks for values from untyped code, without a validation library. */

/** A mismatch between a value and its expected type. */
export interface Problem {
  /** Path of the mismatching member within the value, such as ".devices[0].state"; empty for the value itself. */
  readonly member: string;
  readonly value: unknown;
  /** Expected type of the member, as a clause for an error message. */
  readonly must: string;
}

/** A check: returns the first mismatch of a value, or undefined if it passes. */
export type Check = (value: unknown) => Problem | undefined;

/** A check that a value passes a test. `must`: the expectation, as a clause for an error message. */
export function is(must: string, test: (value: unknown) => boolean): Check {
  return (value) => (test(value) ? undefined : { member: "", value, must });
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const text: Check = is("a text", (value) => typeof value === "string");
export const flag: Check = is("true or false", (value) => typeof value === "boolean");
export const callable: Check = is("a function", (value) => typeof value === "function");
export const amount: Check = is("a number of at least 0", (value) => typeof value === "number" && value >= 0);
export const whole: Check = is("a whole number of at least 0", (value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const positive: Check = is("a whole number of at least 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1);
export const oneOf = (...values: readonly unknown[]): Check =>
  is(`one of ${values.map((value) => JSON.stringify(value)).join(", ")}`, (value) => values.includes(value));

/** A check of a member that may be absent. */
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

/** A check that a value is an array whose items all pass one check. */
export function list(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return { member: "", value, must: "a list" };
    for (const [index, each] of value.entries()) {
      const problem = check(each);
      if (problem !== undefined) return { ...problem, member: `[${index}]${problem.member}` };
    }
    return undefined;
  };
}

/** A check that a value is an object with these members. Other members are ignored. */
export function object(members: Readonly<Record<string, Check>>): Check {
  return (value) => (isObject(value) ? firstProblem(value, members) : { member: "", value, must: "an object" });
}

function firstProblem(value: Readonly<Record<string, unknown>>, members: Readonly<Record<string, Check>>): Problem | undefined {
  for (const [name, check] of Object.entries(members)) {
    const problem = check(value[name]);
    if (problem !== undefined) return { ...problem, member: `.${name}${problem.member}` };
  }
  return undefined;
}
