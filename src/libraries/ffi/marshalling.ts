/** Conversion of types and values between JavaScript, as `native-type.ts` states them, and koffi. */
import type { Koffi, KoffiFunction, KoffiType } from "./koffi.ts";
import type { ResultType, Signature } from "./native-type.ts";
import { type StructLayout, getFieldSize } from "./struct-layout.ts";

/** Koffi's type for a type of ours, and the conversions of its values. */
export interface Marshaller {
  readonly type: KoffiType;
  readonly toNative: (value: unknown) => unknown;
  readonly fromNative: (value: unknown) => unknown;
}

/** The marshallers of a signature. */
export interface SignatureMarshaller {
  readonly result: Marshaller;
  readonly parameters: readonly Marshaller[];
}

const same = (value: unknown): unknown => value;
/** koffi has null for NULL. */
const toNullable = (value: unknown): unknown => value ?? null;

export function marshalSignature(koffi: Koffi, { result, parameters }: Signature): SignatureMarshaller {
  return {
    result: getMarshaller(koffi, result),
    parameters: parameters.map((type) => getMarshaller(koffi, type)),
  };
}

const plain = (type: string): Marshaller => ({ type, toNative: same, fromNative: same });
const wide = (type: string): Marshaller => ({
  type,
  toNative: same,
  fromNative: (value) => BigInt(value as number | bigint),
});

const marshallers: Readonly<Record<Exclude<ResultType, StructLayout>, Marshaller>> = {
  void: { type: "void", toNative: same, fromNative: () => undefined },
  bool: plain("bool"),
  int8: plain("int8"),
  uint8: plain("uint8"),
  int16: plain("int16"),
  uint16: plain("uint16"),
  int32: plain("int32"),
  uint32: plain("uint32"),
  int64: wide("int64"),
  uint64: wide("uint64"),
  size: { type: "size_t", toNative: same, fromNative: Number },
  float32: plain("float"),
  float64: plain("double"),
  pointer: { type: "void *", toNative: toNullable, fromNative: (value) => value ?? 0n },
  string: { type: "str", toNative: toNullable, fromNative: (value) => value ?? undefined },
};

const getMarshaller = (koffi: Koffi, type: ResultType): Marshaller =>
  typeof type === "object" ? structMarshaller(koffi, type) : marshallers[type];

/**
 * Structs travel as bytes. Calling conventions put structs of at most 16 bytes, or of a few floating-point numbers alone, into registers by
 * the types of their fields, so that koffi must know those; it needs size and alignment alone of any other.
 */
function structMarshaller(koffi: Koffi, layout: StructLayout): Marshaller {
  const isByFields = layout.size <= 32;
  const type = isByFields ? fieldsType(koffi, layout) : bytesType(koffi, layout.size, layout.alignment);
  return {
    type,
    toNative: (value) => {
      const bytes = getBytes(value, layout);
      return isByFields ? koffi.decode(bytes, type) : { bytes };
    },
    fromNative: (value) => {
      if (!isByFields) return (value as { bytes: Uint8Array }).bytes.slice();
      const bytes = new Uint8Array(layout.size);
      koffi.encode(bytes, type, value);
      return bytes;
    },
  };
}

function getBytes(value: unknown, { name, size }: StructLayout): Uint8Array {
  if (value instanceof Uint8Array && value.byteLength === size) return value;
  throw new TypeError(`${name} is passed as a Uint8Array of ${size} bytes`);
}

const bytesType = (koffi: Koffi, size: number, alignment: number): object =>
  koffi.struct({ bytes: [alignment, koffi.array("uint8", size, "Typed")] });

/** A struct of koffi with the fields of the layout in the order of their offsets, and bytes in what is left between them. */
function fieldsType(koffi: Koffi, layout: StructLayout): object {
  const fields = Object.entries(layout.fields).toSorted(([, first], [, second]) => first.offset - second.offset);
  const members: Record<string, KoffiType | [number, KoffiType]> = {};
  let end = 0;
  for (const [name, { offset, type }] of fields) {
    const bytes = getFieldSize(type);
    if (offset > end && Math.ceil(end / bytes) * bytes !== offset) {
      members[`gap at ${end}`] = koffi.array("uint8", offset - end, "Typed");
    }
    members[name] = marshallers[type].type;
    end = offset + bytes;
  }
  if (layout.size - end >= layout.alignment) members["end"] = koffi.array("uint8", layout.size - end, "Typed");
  return koffi.struct(members);
}

/** Calls a function of koffi on this thread. */
export function callNative(native: KoffiFunction, types: SignatureMarshaller, values: readonly unknown[]): unknown {
  return types.result.fromNative(native(...toNativeArguments(types, values)));
}

/** Calls a function of koffi on a thread of its pool. */
export async function callNativeAsync(
  native: KoffiFunction,
  types: SignatureMarshaller,
  values: readonly unknown[],
): Promise<unknown> {
  const inputs = toNativeArguments(types, values);
  const returned = new Promise((resolve, reject) => {
    native.async(...inputs, (error: Error | null, value: unknown) => {
      if (error === null) resolve(value);
      else reject(error);
    });
  });
  try {
    return types.result.fromNative(await returned);
  } finally {
    // Named here, so that the memory they point to is not collected before the function returns.
    inputs.length = 0;
  }
}

function toNativeArguments({ parameters }: SignatureMarshaller, values: readonly unknown[]): unknown[] {
  if (values.length !== parameters.length) {
    throw new TypeError(`the function takes ${parameters.length} arguments, and ${values.length} were given`);
  }
  return parameters.map(({ toNative }, index) => toNative(values[index]));
}
