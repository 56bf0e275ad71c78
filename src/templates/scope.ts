/** Variables of a block, within the variables of the enclosing block. */
import type { TemplateValue } from "./values/values.ts";

/** A scope of variables. Assignments in it are not visible outside. */
export class Scope {
  readonly #parent: Scope | undefined;
  #variables: Map<string, TemplateValue> | undefined;

  constructor(parent: Scope | undefined, variables?: Map<string, TemplateValue>) {
    this.#parent = parent;
    this.#variables = variables;
  }

  /** The value of a variable in this scope or an enclosing one; undefined if there is none. */
  get(name: string): TemplateValue | undefined {
    // oxlint-disable-next-line typescript/no-this-alias -- walks outwards
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.#parent) {
      const value = scope.#variables?.get(name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(name: string, value: TemplateValue): void {
    (this.#variables ??= new Map<string, TemplateValue>()).set(name, value);
  }
}
