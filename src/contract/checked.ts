/**
 * Handling of `undefined`: access that throws where an entry is missing through a defect of the code, entries of maps that are made where they are missing, and
 * objects without undefined fields.
 */

/**
 * The element at `index`; a negative index does not count from the end. Throws RangeError when the list has no such element, so that a wrong
 * index never reads as zero.
 */
export function at<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`a list of ${list.length} elements has none at index ${index}`);
  return element;
}

/** Returns the value, which must be defined. `what` names it in the error: "the buffer of output 3". Throws TypeError if it is undefined. */
export function required<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`${what} is missing`);
  return value;
}

/** A map or a weak map. */
interface Entries<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** The value of a key. Where the map has none, `make` makes it, and the map keeps it, as `Map.prototype.getOrInsertComputed` of ECMAScript does. */
export function getOrInsert<Key, Value>(map: Entries<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}

/** Adds an item to the list of a key. */
export function addToList<Key, Item>(lists: Entries<Key, Item[]>, key: Key, item: Item): void {
  getOrInsert(lists, key, () => []).push(item);
}

/** An object type whose fields that may be undefined are optional instead, as `exactOptionalPropertyTypes` tells the two apart. */
export type Defined<Fields> = {
  [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

/** A copy of the object's own enumerable fields, except fields whose value is undefined. Fields that are null are kept. */
export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
