/** Global functions of templates: the ones of Jinja2, and the ones that transformers adds. */
import { TemplateFailure, TemplateRefusal } from "../errors.ts";
import { computeHash } from "../values/comparison.ts";
import { getItems } from "../values/iteration.ts";
import { toText } from "../values/text.ts";
import {
  type Arguments,
  Callable,
  Dict,
  Namespace,
  ObjectValue,
  Range,
  type TemplateValue,
  toInteger,
  getText,
  typeName,
} from "../values/values.ts";
import { Bound } from "./arguments.ts";
import type { TemplateEnvironment } from "./environment.ts";
import { formatDate } from "./format-date.ts";

/** Numbers of the longest range, as Jinja2's sandbox has it. */
const maxRange = 100_000;

/** Global names and their values. */
export function globalFunctions(environment: TemplateEnvironment): ReadonlyMap<string, TemplateValue> {
  const functions: Readonly<Record<string, (given: Arguments) => TemplateValue>> = {
    range,
    dict: (given) => toDict(given, environment),
    namespace: (given) => namespace(given, environment),
    cycler,
    joiner: (given) => joiner(given),
    raise_exception: (given) => {
      const message = new Bound("raise_exception", ["message"], given).value("message");
      throw new TemplateRefusal(toText(message, environment.budget).slice(0, 1000));
    },
    strftime_now: (given) => {
      const format = new Bound("strftime_now", ["format"], given).text("format");
      environment.budget.text(10 * format.length);
      return formatDate(format, environment.now);
    },
  };
  return new Map(Object.entries(functions).map(([name, call]) => [name, new Callable(name, call)]));
}

function range({ positional, named }: Arguments): TemplateValue {
  if (named.size > 0) throw new TemplateFailure("range() takes no keyword arguments");
  const numbers = positional.map((value) => {
    const integer = toInteger(value);
    if (integer === undefined) throw new TemplateFailure(`'${typeName(value)}' object cannot be interpreted as an integer`);
    return Number(integer);
  });
  const [first, second, step = 1] = numbers;
  if (first === undefined || numbers.length > 3)
    throw new TemplateFailure(`range expected 1 to 3 arguments, got ${numbers.length}`);
  if (step === 0) throw new TemplateFailure("range() arg 3 must not be zero");
  const made = second === undefined ? new Range(0, first, 1) : new Range(first, second, step);
  if (!(made.length <= maxRange))
    throw new TemplateFailure(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${maxRange}).`);
  return made;
}

function toDict({ positional, named }: Arguments, { budget }: TemplateEnvironment): Dict {
  if (positional.length > 1) throw new TemplateFailure(`dict expected at most 1 argument, got ${positional.length}`);
  const made = new Dict();
  const [first] = positional;
  const entries =
    first === undefined
      ? []
      : first instanceof Dict
        ? first.entries()
        : getItems(first, budget).map((pair) => {
            const items = getItems(pair, budget);
            if (items.length !== 2)
              throw new TemplateFailure(`dictionary update sequence element has length ${items.length}; 2 is required`);
            return [items[0] ?? null, items[1] ?? null] as const;
          });
  budget.items(4 * (entries.length + named.size));
  for (const [key, value] of entries) made.set(computeHash(key, budget), key, value);
  for (const [name, value] of named) made.set(name, name, value);
  return made;
}

function namespace(given: Arguments, environment: TemplateEnvironment): Namespace {
  const attributes = new Map<string, TemplateValue>();
  for (const [key, value] of toDict(given, environment).entries())
    attributes.set(getText(key) ?? toText(key, environment.budget), value);
  return new Namespace(attributes);
}

function cycler({ positional: items }: Arguments): TemplateValue {
  if (items.length === 0) throw new TemplateFailure("at least one item has to be provided");
  let at = 0;
  const current = (): TemplateValue => items[at] ?? null;
  return new ObjectValue("Cycler", (name) => {
    if (name === "current") return current();
    if (name === "reset") {
      return new Callable(name, () => {
        at = 0;
        return null;
      });
    }
    if (name !== "next") return undefined;
    return new Callable(name, () => {
      const item = current();
      at = (at + 1) % items.length;
      return item;
    });
  });
}

function joiner(given: Arguments): TemplateValue {
  const separator = new Bound("joiner", ["sep"], given).textOr("sep", ", ");
  let isUsed = false;
  const call = (): TemplateValue => {
    const text = isUsed ? separator : "";
    isUsed = true;
    return text;
  };
  return new ObjectValue("Joiner", () => undefined, call);
}
