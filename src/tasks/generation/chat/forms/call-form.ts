/** The forms in which models write calls of tools. They are plain data, so that a form can be sent to another thread. */

/** Syntax of calls, for reading. */
export type CallSyntax =
  /** Objects with a name and arguments, one after another or in lists. `isBare`: without anything before them, so that only the names of tools tell calls from text. */
  | { readonly kind: "json"; readonly closes: readonly string[]; readonly isBare: boolean }
  | NamedSyntax
  | TaggedSyntax
  /** `<k>` elements with a prefix, lists and objects included (MiniMax M3). */
  | { readonly kind: "elements"; readonly prefix: string; readonly close: string }
  /** Calls of Python, in a list or a line each. */
  | { readonly kind: "python"; readonly close: string }
  /** `call:NAME{key:VALUE}`, strings between marks of their own (Gemma). */
  | { readonly kind: "braces"; readonly quote: string; readonly close: string }
  /** Messages to functions, on channels. */
  | { readonly kind: "channel" };

/** A name, separators, and an object; or an object with the name in it. */
export interface NamedSyntax {
  readonly kind: "named";
  /** Texts that begin each call of a block. Empty: blocks have one call. */
  readonly call: readonly string[];
  /** Texts that may follow the name. Text between a separator and the object is the name if `hasTypes`, and otherwise an id. */
  readonly separators: readonly string[];
  readonly hasTypes: boolean;
  readonly callCloses: readonly string[];
  /** Texts that end a block. */
  readonly closes: readonly string[];
}

/** Arguments between tags, as text: typed by the schema of the tool. */
export interface TaggedSyntax {
  readonly kind: "tagged";
  /** Around the name. Nothing before it: it follows the text that begins calls. */
  readonly name: readonly [before: string, after: string];
  /** Texts that begin further calls; the first begins a block. */
  readonly opens: readonly string[];
  /** After the arguments. */
  readonly callClose: string;
  /** Delimiters of the name of an argument; further words, separated by white space, may follow them. */
  readonly key: readonly [before: string, ...after: readonly string[]];
  readonly valueClose: string;
  /** Line ends that belong to the tags: "both": one on each side of a value; "pair": one on each side if the value begins with one; "none". */
  readonly lines: "both" | "pair" | "none";
  /** Texts that end the calls of one block. None: there are no blocks. */
  readonly closes: readonly string[];
  /** Whether values may be wrapped in `<![CDATA[...]]>`. */
  readonly hasCdata?: boolean;
}

/** Syntax of a required call, for writing. Tagged arguments are written according to their syntax, others as an object of JSON. */
export interface WrittenCall {
  /** Beginning of the answer. */
  readonly open: string;
  /** After the last call. */
  readonly close: string;
  /** Texts before, between and after the name and the arguments. */
  readonly name: readonly [before: string, after: string];
  readonly afterArguments: string;
  /** Whether the name is a string of JSON, whose quotes are part of `name`. */
  readonly isJsonName: boolean;
}

/** A form of calls. */
export interface CallForm {
  readonly name: string;
  /** Texts that begin calls. */
  readonly opens: readonly string[];
  readonly syntax: CallSyntax;
  /** Syntax for forcing a call. Undefined: calls of this form are read, and cannot be forced. */
  readonly written?: WrittenCall;
  /** Special tokens of the form, which stay in the text that is read. */
  readonly markers: readonly string[];
  /** Form of the ids of calls that the template expects. Default: any. */
  readonly ids?: "nineCharacters" | "numberedNames";
}
