/** Conversion of types and values between JavaScript, as `native-type.ts` states them, and koffi. */
import type { Koffi, KoffiFunction, KoffiType } from "./koffi.ts";
import type { ResultType, Signature } from "./native-type.ts";
import type { StructLayout } from "./struct-layout.ts";

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
 * the types of their fields; of larger ones koffi needs size and alignment alone.
 */
function structMarshaller(koffi: Koffi, { name, size, alignment }: StructLayout): Marshaller {
  if (size <= maxRegisterBytes) throw new TypeError(`${name} has ${size} bytes, and may be passed in registers`);
  return {
    type: koffi.struct({ bytes: [alignment, koffi.array("uint8", size, "Typed")] }),
    toNative: (value) => {
      if (value instanceof Uint8Array && value.byteLength === size) return { bytes: value };
      throw new TypeError(`${name} is passed as a Uint8Array of ${size} bytes`);
    },
    fromNative: (value) => (value as { bytes: Uint8Array }).bytes.slice(),
  };
}

/** Bytes of the largest struct that a calling convention passes in registers: four float64 (AAPCS64). */
const maxRegisterBytes = 32;

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
