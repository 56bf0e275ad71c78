/** The variable `loop`. */
import type { TemplateEnvironment } from "./builtins/environment.ts";
import { TemplateFailure } from "./errors.ts";
import { areEqual } from "./values/comparison.ts";
import { getItems, iterate, getLength } from "./values/iteration.ts";
import { type Arguments, Callable, ObjectValue, Stream, Tuple, Undefined, type TemplateValue } from "./values/values.ts";

/** One run of a loop: its items, and the values of `loop` for the current one. */
export class Loop {
  /** The variable `loop`. */
  readonly value: ObjectValue;
  readonly #environment: TemplateEnvironment;
  readonly #depth: number;
  readonly #over: TemplateValue;
  #next: () => TemplateValue | undefined;
  #length: number | undefined;
  #index = -1;
  #before: TemplateValue | undefined;
  #current: TemplateValue | undefined;
  #peeked: { readonly item: TemplateValue | undefined } | undefined;
  #changed: Tuple | undefined;

  /** `recurse`: renders the loop over other items, one level deeper; undefined if the loop is not recursive. */
  constructor(
    over: TemplateValue,
    depth: number,
    environment: TemplateEnvironment,
    recurse: ((over: TemplateValue, depth: number) => string) | undefined,
  ) {
    this.#over = over;
    this.#depth = depth;
    this.#environment = environment;
    this.#next = iterate(over, environment.budget);
    this.value = new ObjectValue(
      "LoopContext",
      (name) => this.#attribute(name),
      ({ positional: [items] }) => {
        if (recurse === undefined)
          throw new TemplateFailure("The loop must have the 'recursive' marker to be called recursively.");
        if (items === undefined) throw new TemplateFailure("loop() missing 1 required positional argument: 'iterable'");
        return recurse(items, depth + 1);
      },
    );
  }

  /** Goes to the next item, and returns it; undefined at the end. */
  advance(): TemplateValue | undefined {
    this.#environment.budget.step(3); // with the scope that is made for it
    const item = this.#peeked === undefined ? this.#next() : this.#peeked.item;
    this.#peeked = undefined;
    if (item === undefined) return undefined;
    this.#index += 1;
    this.#before = this.#current;
    this.#current = item;
    return item;
  }

  #peek(): TemplateValue | undefined {
    this.#peeked ??= { item: this.#next() };
    return this.#peeked.item;
  }

  #attribute(name: string): TemplateValue | undefined {
    const index = this.#index;
    switch (name) {
      case "index":
        return index + 1;
      case "index0":
        return index;
      case "first":
        return index === 0;
      case "last":
        return this.#peek() === undefined;
      case "length":
        return this.#total();
      case "revindex":
        return this.#total() - index;
      case "revindex0":
        return this.#total() - index - 1;
      case "depth":
        return this.#depth + 1;
      case "depth0":
        return this.#depth;
      case "previtem":
        return index === 0 ? new Undefined("there is no previous item") : this.#before;
      case "nextitem": {
        const next = this.#peek();
        return next === undefined ? new Undefined("there is no next item") : next;
      }
      case "cycle":
        return new Callable(name, ({ positional }) => this.#cycle(positional));
      case "changed":
        return new Callable(name, (given) => this.#hasChanged(given));
      default:
        return undefined;
    }
  }

  /** Number of all items. Those of an iterator are read for it. */
  #total(): number {
    const { budget } = this.#environment;
    this.#length ??= this.#over instanceof Stream ? undefined : getLength(this.#over, budget);
    if (this.#length !== undefined) return this.#length;
    const rest = getItems(new Stream("iterator", this.#next), budget);
    let at = 0;
    this.#next = () => rest[at++];
    const peeked = this.#peeked?.item === undefined ? 0 : 1;
    this.#length = rest.length + this.#index + 1 + peeked;
    return this.#length;
  }

  #cycle(items: readonly TemplateValue[]): TemplateValue {
    if (items.length === 0) throw new TemplateFailure("no items for cycling given");
    return items[this.#index % items.length] ?? null;
  }

  #hasChanged({ positional }: Arguments): boolean {
    const values = new Tuple(positional);
    if (this.#changed !== undefined && areEqual(this.#changed, values, this.#environment.budget)) return false;
    this.#changed = values;
    return true;
  }
}
