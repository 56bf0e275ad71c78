/** Options of a PJRT client, as `PJRT_Client_Create` takes them. */
import type { ForeignFunctions } from "../../../libraries/ffi/index.ts";
import { type PjrtFields, structBytes } from "./plugin.ts";
import { namedValueLayout } from "./structs.ts";

/** The value of an option by its type. A plugin refuses a number of the wrong type: `memory_fraction` is a float, `node_id` an integer. */
export type ClientOption =
  | { readonly text: string }
  | { readonly integer: number }
  | { readonly integers: readonly number[] }
  | { readonly float: number }
  | { readonly flag: boolean };

/** Options by name, such as `cpu_device_count`. */
export type PjrtClientOptions = Readonly<Record<string, ClientOption>>;

/** Numbers of the types of `PJRT_NamedValue_Type`. */
const types = { text: 0, integer: 1, integers: 2, float: 3, flag: 4 };

/** A list of `PJRT_NamedValue`. The arrays in `keep` hold names and values and must stay reachable for as long as the plugin reads the list. */
export function namedValues(
  ffi: ForeignFunctions,
  options: PjrtClientOptions,
): { readonly list: Uint8Array; readonly count: number; readonly keep: readonly object[] } {
  const keep: object[] = [];
  const values = Object.entries(options).map(([name, option]) => {
    const nameBytes = new TextEncoder().encode(name);
    const [type, value, size] = getValue(option);
    keep.push(nameBytes, ...(typeof value === "object" ? [value] : []));
    return structBytes(ffi, namedValueLayout, { name: nameBytes, name_size: nameBytes.length, type, value, value_size: size });
  });
  const { size } = namedValueLayout;
  const list = new Uint8Array(Math.max(1, values.length) * size);
  for (const [index, value] of values.entries()) list.set(value, index * size);
  return { list, count: values.length, keep };
}

/** Number of the type, the eight bytes of the value or an array whose address they are, and the number of elements. */
function getValue(option: ClientOption): readonly [type: number, value: NonNullable<PjrtFields[string]>, size: number] {
  if ("text" in option) {
    const bytes = new TextEncoder().encode(option.text);
    return [types.text, bytes, bytes.length];
  }
  if ("integers" in option) return [types.integers, BigInt64Array.from(option.integers, BigInt), option.integers.length];
  if ("integer" in option) return [types.integer, BigInt(option.integer), 1];
  if ("flag" in option) return [types.flag, BigInt(option.flag), 1];
  return [types.float, BigInt(new Uint32Array(Float32Array.of(option.float).buffer)[0] ?? 0), 1];
}
