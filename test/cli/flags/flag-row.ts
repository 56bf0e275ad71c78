/** A row of the table of flags that test/cli/every-flag.test.ts tests: a command line that a flag stands on, its value, and where that arrives. */

/** Options by name. */
export type Values = Readonly<Record<string, unknown>>;

/** Where the value of a flag arrives. */
export interface Arrival {
  /** In the settings of the runtime. */
  readonly settings?: Values;
  /** In the options of the last call. */
  readonly request?: Values;
  /** In the options of the calls of these functions. */
  readonly requests?: Readonly<Record<string, Values>>;
  /** As the arguments of the last call. */
  readonly input?: readonly unknown[];
  /** The function that is called with the flag alone; `input`: its arguments, if they are named as well. */
  readonly verb?: string;
}

/** One flag. */
export interface FlagRow {
  /** The command line that it is added to. Default: that of the command. */
  readonly on?: readonly string[];
  readonly value: readonly string[];
  readonly arrives?: Arrival;
  /** Whether the command is refused without it. Default: false. */
  readonly required?: true;
  /** Whether it is another form of output than --json. Default: false. */
  readonly plain?: true;
  /** Whether more than the options of the last call changes. Default: false. */
  readonly last?: true;
  /** It changes what is printed, and nothing else has to differ but the options of the last call that `arrives` names. */
  readonly shows?: true;
  /** It writes this file into the current folder. */
  readonly writes?: string;
  /** It is refused with these words. */
  readonly refused?: RegExp;
  /** What else differs with it. */
  readonly sees?: (seen: { readonly calls: readonly object[]; readonly stderr: string }) => unknown;
}

/** A command. */
export interface CommandRows {
  /** A command line. */
  readonly on: readonly string[];
  /** How it prints, where not as JSON. */
  readonly form?: readonly string[];
  readonly flags: Readonly<Record<string, FlagRow>>;
}

/** Flags of the program itself: test/cli/option-kinds.long.test.ts sees them. */
export const globalFlags: ReadonlySet<string> = new Set(["--json", "--config", "--quiet", "--debug"]);

/** A row of a flag that sets options of the function that does the work. */
export const sets = (value: readonly string[], request: Values, on?: readonly string[]): FlagRow => ({
  value,
  arrives: { request },
  ...(on === undefined ? {} : { on }),
});
