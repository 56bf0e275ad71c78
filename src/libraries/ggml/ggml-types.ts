/** The table of types in ggml's base library, whose layout is proved by the sizes of the types before it is used. */
import { InferyardError } from "../../contract/errors.ts";
import { ggmlTypeSizes } from "../../formats/gguf/ggml-types.ts";
import { typeTraits, typeTraitsCpu } from "../contracts/ggml.ts";
import { type ForeignFunctions, type NativeLibrary, readField, type StructLayout } from "../ffi/index.ts";

/** A type that a library has. Addresses of functions are 0n where it has none. */
export interface GgmlTypeEntry {
  readonly name: string;
  /** `ggml_type`. */
  readonly number: number;
  /** Elements and bytes of a block. */
  readonly blockElements: number;
  readonly blockBytes: number;
  readonly toFloat: bigint;
  readonly fromFloatReference: bigint;
  readonly fromFloat: bigint;
  readonly vecDot: bigint;
  /** The type of the second row that `vecDot` multiplies with. */
  readonly activationType: string;
}

/** The types that both the library and Inferyard know, by name. Throws LIBRARY_INCOMPATIBLE if its structs have not the layout that is known. */
export function readTypes(ffi: ForeignFunctions, base: NativeLibrary, cpu: NativeLibrary): ReadonlyMap<string, GgmlTypeEntry> {
  const of = { result: "pointer", parameters: ["int32"] } as const;
  const table = tableAt(base.bind("ggml_get_type_traits", of), typeTraits, base.path);
  const cpuTable = tableAt(cpu.bind("ggml_get_type_traits_cpu", of), typeTraitsCpu, cpu.path);
  const getEntry = (at: bigint, layout: StructLayout, number: number): Uint8Array =>
    ffi.bytesAt(at + BigInt(layout.size * number), layout.size);
  const nameOfF32 = address(typeTraits, getEntry(table, typeTraits, 0), "type_name");
  const types = new Map<string, GgmlTypeEntry>();
  for (const expected of ggmlTypeSizes()) {
    const { name, number } = expected;
    // An entry behind the end of an older table is other data of the library: its name is no pointer to a string beside the others.
    const entry = getEntry(table, typeTraits, number);
    const nameAt = address(typeTraits, entry, "type_name");
    if (distance(nameAt, nameOfF32) > maxNameDistance) continue;
    if (ffi.stringAt(nameAt).toLowerCase() !== name.toLowerCase()) continue;
    const blockElements = Number(readField(typeTraits, entry, "blck_size"));
    const blockBytes = Number(readField(typeTraits, entry, "type_size"));
    const isExpected = blockElements === expected.blockElements && blockBytes === expected.blockBytes;
    if (!isExpected && !hasOwnSize.has(name)) {
      const found = `blocks of ${blockElements} elements in ${blockBytes} bytes`;
      throw incompatible(
        base.path,
        `${name} has ${found}, and ${expected.blockElements} in ${expected.blockBytes} were expected`,
      );
    }
    const cpuEntry = getEntry(cpuTable, typeTraitsCpu, number);
    types.set(name, {
      name,
      number,
      blockElements,
      blockBytes,
      toFloat: address(typeTraits, entry, "to_float"),
      fromFloatReference: address(typeTraits, entry, "from_float_ref"),
      fromFloat: address(typeTraitsCpu, cpuEntry, "from_float"),
      vecDot: address(typeTraitsCpu, cpuEntry, "vec_dot"),
      activationType: getName(Number(readField(typeTraitsCpu, cpuEntry, "vec_dot_type"))),
    });
  }
  checkKnown(types, base.path, cpu.path);
  return types;
}

/** Types of activations alone, which no file has: ggml made the blocks of Q8_1 smaller, and its description of files still has the old ones. */
const hasOwnSize: ReadonlySet<string> = new Set(["Q8_1"]);

/** Bytes. The names of types are neighbouring constants of one library. */
const maxNameDistance = 1n << 20n;

const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a);

function address(layout: StructLayout, entry: Uint8Array, field: string): bigint {
  return readField(layout, entry, field) as bigint;
}

function getName(number: number): string {
  return ggmlTypeSizes().find((each) => each.number === number)?.name ?? `type ${number}`;
}

/** The first entry of a table. The distance of two entries proves the size of the struct. */
function tableAt(traitsOf: (number: number) => bigint, { name, size }: StructLayout, path: string): bigint {
  const first = traitsOf(0);
  const found = Number(traitsOf(1) - first);
  if (found === size) return first;
  throw incompatible(path, `${name} takes ${found} bytes, and ${size} were expected`);
}

/** Types that every release has, and the activations that they are multiplied with: the proof of `ggml_type_traits_cpu`. */
const activations: readonly (readonly [type: string, activations: string])[] = [
  ["F32", "F32"],
  ["Q4_0", "Q8_0"],
  ["Q8_0", "Q8_0"],
  ["Q4_K", "Q8_K"],
  ["Q6_K", "Q8_K"],
];

function checkKnown(types: ReadonlyMap<string, GgmlTypeEntry>, base: string, cpu: string): void {
  for (const [name, expected] of activations) {
    const found = types.get(name);
    if (found === undefined) throw incompatible(base, `its table of types has no ${name} where it should be`);
    if (found.activationType !== expected || found.vecDot === 0n)
      throw incompatible(cpu, `it multiplies ${name} with ${found.activationType}, and ${expected} was expected`);
  }
}

function incompatible(path: string, problem: string): InferyardError {
  return new InferyardError("LIBRARY_INCOMPATIBLE", `the layout of ${path} is not known: ${problem}`, {
    remedy: "use a release of llama.cpp from November 2024 or later that this version of Inferyard knows",
    data: { path },
  });
}
