/** Reads calls whose arguments are elements, one inside of another, each tag after a prefix (MiniMax M3). */
import type { CallSyntax } from "./call-form.ts";
import type { CallReading } from "./call-reading.ts";
import type { CursorReading } from "./text-cursor.ts";
import { ArgumentSchemas } from "./typed-value.ts";

/** Deepest nesting that is read. */
const maxDepth = 100;

interface Place {
  readonly prefix: string;
  readonly schemas: ArgumentSchemas;
  readonly path: readonly string[];
}

/** Reads calls up to the end of the block. */
export function* readElements(
  { prefix, close }: Extract<CallSyntax, { kind: "elements" }>,
  { cursor, tools, add }: CallReading,
): CursorReading<boolean> {
  for (let isFirst = true; ; isFirst = false) {
    yield* cursor.space();
    if (!isFirst && (yield* cursor.take(close))) return true;
    if (cursor.isAtEnd || !(yield* cursor.take(`${prefix}<invoke name="`))) return !isFirst;
    const { text: name, delimiter } = yield* cursor.until(['">']);
    if (delimiter === undefined) return false;
    const members = yield* readMembers({ prefix, schemas: new ArgumentSchemas(tools, name), path: [] }, "invoke", { cursor });
    if (members === undefined) return false;
    add({ name, arguments: toObject(members) });
  }
}

type Members = readonly (readonly [name: string, json: string])[];

function toObject(members: Members): string {
  return `{${[...new Map(members)].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
}

/** Reads elements up to the closing tag of what contains them. Undefined if it does not come. */
function* readMembers(place: Place, parent: string, reading: Pick<CallReading, "cursor">): CursorReading<Members | undefined> {
  const { cursor } = reading;
  const members: (readonly [string, string])[] = [];
  for (;;) {
    yield* cursor.space();
    if (yield* cursor.take(`${place.prefix}</${parent}>`)) return members;
    if (!(yield* cursor.take(`${place.prefix}<`))) return undefined;
    const { text: name, delimiter } = yield* cursor.until([">"]);
    if (delimiter === undefined || place.path.length > maxDepth) return undefined;
    const step = name === "item" && place.schemas.isList(place.path) ? "*" : name;
    const json = yield* readElement({ ...place, path: [...place.path, step] }, name, reading);
    if (json === undefined) return undefined;
    members.push([name, json]);
  }
}

/** Reads the content of an element: text, or further elements. */
function* readElement(place: Place, name: string, reading: Pick<CallReading, "cursor">): CursorReading<string | undefined> {
  const { cursor } = reading;
  const { prefix, schemas, path } = place;
  if (yield* cursor.follows([[`${prefix}<`]])) {
    if (yield* cursor.take(`${prefix}</${name}>`)) return schemas.json("", path);
    const members = yield* readMembers(place, name, reading);
    if (members === undefined) return undefined;
    const isList = members.length > 0 && members.every(([each]) => each === "item");
    return isList && schemas.isList(path) ? `[${members.map(([, json]) => json).join(",")}]` : toObject(members);
  }
  const { text, delimiter } = yield* cursor.until([`${prefix}</${name}>`]);
  return delimiter === undefined ? undefined : schemas.json(text, path);
}
