/** Registers that a kernel may use, handed out one by one. */

/** More registers are needed than there are. */
export class RegistersExhausted extends RangeError {}

/** A set of free registers. What is taken must be released by whoever took it, or stays taken for the rest of the kernel. */
export class RegisterPool<Name extends number | string> {
  readonly #free: Name[];
  readonly #all: ReadonlySet<Name>;
  readonly #kind: string;

  /** `kind` names the registers in errors. */
  constructor(kind: string, all: readonly Name[]) {
    this.#kind = kind;
    this.#free = [...all];
    this.#all = new Set(all);
  }

  /** Number of free registers. */
  get available(): number {
    return this.#free.length;
  }

  /** Takes the first free register. Throws RegistersExhausted if there is none. */
  take(): Name {
    const register = this.#free.shift();
    if (register === undefined) throw new RegistersExhausted(`all ${this.#all.size} ${this.#kind} registers are in use`);
    return register;
  }

  /** Takes `count` registers. Throws RegistersExhausted if there are fewer. */
  takeAll(count: number): Name[] {
    if (count > this.#free.length)
      throw new RegistersExhausted(`${count} ${this.#kind} registers are needed, and ${this.#free.length} are free`);
    return this.#free.splice(0, count);
  }

  /** Takes one certain register. Throws RangeError if it is in use. */
  takeNamed(register: Name): Name {
    const index = this.#free.indexOf(register);
    if (index < 0) throw new RangeError(`${this.#kind} register ${register} is in use`);
    this.#free.splice(index, 1);
    return register;
  }

  /** Gives registers back. Throws RangeError for one that is not in use. */
  release(...registers: readonly Name[]): void {
    for (const register of registers) {
      if (!this.#all.has(register) || this.#free.includes(register))
        throw new RangeError(`${this.#kind} register ${register} is not in use`);
      this.#free.unshift(register);
    }
  }

  /** Runs `use` with registers that are free again afterwards. */
  with<Result>(count: number, use: (registers: readonly Name[]) => Result): Result {
    const registers = this.takeAll(count);
    const result = use(registers);
    this.release(...registers.toReversed());
    return result;
  }
}
