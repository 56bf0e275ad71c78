/**
 * Reads protobuf messages from a file, as a table declares them. Only texts and the headers of fields are read, so the messages of a file with
 * gigabytes of weights cost a few kilobytes of reading.
 */
import { PbfReader } from "pbf";
import { required } from "../../contract/checked.ts";
import { toByteSource } from "../byte-source.ts";
import { FileWindow, type Reading } from "../file-window.ts";
import { lengthDelimited, maxHeaderBytes, maxVarintBytes, readFieldHeader, readVarint } from "./wire-format.ts";

/**
 * A field of a message: its number, its kind, and for numbers and texts the value of a message without it, by default 0 or ""; for messages the name of their
 * declaration. Kinds in the plural are repeated fields. `ranges` stands for any content that is not decoded: see `Ranges`.
 */
export type FieldDeclaration =
  | readonly [number: number, kind: "integer", absent?: number]
  | readonly [number: number, kind: "float", absent?: number]
  | readonly [number: number, kind: "text", absent?: string]
  | readonly [number: number, kind: "integers"]
  | readonly [number: number, kind: "texts"]
  | readonly [number: number, kind: "ranges"]
  | readonly [number: number, kind: "message" | "messages", of: string];

/** Declarations of messages by name, each with its fields by name. */
export type MessageTable = Readonly<Record<string, Readonly<Record<string, FieldDeclaration>>>>;

/** Where the contents of a repeated field are in the file: the position of the first byte of each and of the byte after its last, in turn. */
export type Ranges = readonly number[];

/** Values of fields by kind. */
interface PlainValues {
  readonly integer: number;
  readonly float: number;
  readonly text: string;
  readonly integers: readonly number[];
  readonly texts: readonly string[];
  readonly ranges: Ranges;
}

type FieldValue<Table, Declaration> = Declaration extends readonly [number, "message", infer Name extends keyof Table]
  ? MessageOf<Table, Name> | undefined
  : Declaration extends readonly [number, "messages", infer Name extends keyof Table]
    ? readonly MessageOf<Table, Name>[]
    : Declaration extends readonly [number, infer Kind extends keyof PlainValues, unknown?]
      ? PlainValues[Kind]
      : never;

/** A message that was read: the values of its declared fields by name. A message within it that is absent is undefined. */
export type MessageOf<Table, Name extends keyof Table> = {
  readonly [Key in keyof Table[Name]]: FieldValue<Table, Table[Name][Key]>;
};

/** The value of every repeated field that is absent: most lists of most messages are. */
const emptyList: readonly unknown[] = Object.freeze([]);

/** A declaration prepared for reading. */
interface Declaration {
  /** Fields by number, with their names. */
  readonly fields: ReadonlyMap<number, readonly [key: string, declaration: FieldDeclaration]>;
  /** The message without any field. */
  readonly absent: Readonly<Record<string, unknown>>;
}

/** A message while it is read, and where it ends. */
interface OpenMessage {
  readonly message: Record<string, unknown>;
  readonly fields: Declaration["fields"];
  readonly end: number;
}

/** Memory that a number in a list takes, in bytes. */
const numberBytes = 8;

/** Graphs within graphs and types within types of real models nest a handful deep, and each takes a few levels of messages. */
const maxMessageDepth = 200;

/**
 * Reads messages of one file through a FileWindow. Methods throw Error if the bytes are damaged, end too early or nest more than 200 messages, and
 * MODEL_UNSUPPORTED beyond the limits of FileWindow.
 */
export class MessageReader<Table extends MessageTable> {
  readonly #window: FileWindow;
  readonly #pbf: PbfReader;
  readonly #declarations: ReadonlyMap<string, Declaration>;

  constructor(window: FileWindow, table: Table) {
    this.#window = window;
    this.#pbf = new PbfReader(window.buffer);
    this.#declarations = new Map(Object.entries(table).map(([name, fields]) => [name, prepare(fields)]));
  }

  /** Reads the whole file as one message. */
  *read<Name extends keyof Table & string>(name: Name): Reading<MessageOf<Table, Name>> {
    const window = this.#window;
    const whole = this.#open(name, window.size);
    // A stack in place of recursion: a generator for each message would take most of the time.
    const stack = [whole];
    let position = 0;
    for (let inner = stack.at(-1); inner !== undefined; inner = stack.at(-1)) {
      const { message, fields, end } = inner;
      if (position >= end) {
        stack.pop();
        continue;
      }
      const length = Math.min(maxHeaderBytes, end - position);
      if (window.available(position) < length) yield { position, length };
      window.countItems();
      const field = readFieldHeader(this.#pbf, window.start, position, end);
      position = field.end;
      const [key, declaration] = fields.get(field.number) ?? [];
      if (key === undefined || declaration === undefined) continue;
      const [, kind, of] = declaration;
      if (kind === "integer") message[key] = field.value;
      else if (kind === "ranges") {
        add(message, key, field.start);
        add(message, key, field.end);
      } else if (kind === "integers" && field.wireType === 0) add(message, key, field.value);
      else if (kind === "float" && field.wireType === 5) {
        this.#pbf.pos = field.start - window.start; // the header that was read includes it
        message[key] = this.#pbf.readFloat();
      } else if (field.wireType !== lengthDelimited || kind === "float") {
        throw new Error(`it has data of another kind in the place of "${key}" at byte ${field.start}`);
      } else if (kind === "integers") {
        yield* this.#packed(message, key, field.start, field.end);
      } else if (kind === "text" || kind === "texts") {
        const text = yield* window.readText(field.start, field.end - field.start);
        if (kind === "text") message[key] = text;
        else add(message, key, text);
      } else {
        const opened = this.#open(of, field.end);
        if (kind === "message") message[key] = opened.message;
        else add(message, key, opened.message);
        if (stack.push(opened) > maxMessageDepth) throw new Error(`it nests more than ${maxMessageDepth} messages`);
        position = field.start;
      }
    }
    return whole.message as MessageOf<Table, Name>;
  }

  #open(name: string, end: number): OpenMessage {
    this.#window.countMessage();
    const { fields, absent } = required(this.#declarations.get(name), `the message "${name}" of the table`);
    return { message: { ...absent }, fields, end };
  }

  *#packed(message: Record<string, unknown>, key: string, start: number, end: number): Reading<void> {
    const window = this.#window;
    for (let position = start; position < end; position = window.start + this.#pbf.pos) {
      const length = Math.min(maxVarintBytes, end - position);
      if (window.available(position) < length) yield { position, length };
      window.countItems();
      window.charge(numberBytes, "numbers of the file");
      add(message, key, readVarint(this.#pbf, window.start, position, end, true));
    }
  }
}

/** Reads bytes in memory as the message `name` of a table. Throws as `MessageReader` does. */
export function readMessage<Table extends MessageTable, Name extends keyof Table & string>(
  bytes: Uint8Array,
  name: Name,
  table: Table,
): MessageOf<Table, Name> {
  const window = new FileWindow(bytes.length, "the file");
  return window.runNow(new MessageReader(window, table).read(name), toByteSource(bytes));
}

function prepare(table: MessageTable[string]): Declaration {
  const entries = Object.entries(table);
  return {
    fields: new Map(entries.map(([key, declaration]) => [declaration[0], [key, declaration]])),
    absent: Object.fromEntries(entries.map(([key, declaration]) => [key, absentValue(declaration)])),
  };
}

function absentValue([, kind, absent]: FieldDeclaration): unknown {
  if (kind === "integer" || kind === "float") return absent ?? 0;
  if (kind === "text") return absent ?? "";
  return kind === "message" ? undefined : emptyList;
}

/** Appends to a repeated field. */
function add(message: Record<string, unknown>, key: string, value: unknown): void {
  const list = message[key];
  if (Array.isArray(list) && list !== emptyList) list.push(value);
  else message[key] = [value];
}
