/** Numbers of instruction sets in PE and COFF files, by the names that Inferyard prints. */
const machines = new Map<number, { readonly name: string; readonly bits: 32 | 64 }>([
  [0x14c, { name: "x86", bits: 32 }],
  [0x1c0, { name: "arm", bits: 32 }],
  [0x1c4, { name: "arm", bits: 32 }],
  [0x8664, { name: "x86-64", bits: 64 }],
  [0xaa64, { name: "arm64", bits: 64 }],
  [0xa641, { name: "arm64ec", bits: 64 }],
]);

/** The name of an instruction set; "machine 4711" for a number that is not known. */
export function coffArchitecture(machine: number): string {
  return machines.get(machine)?.name ?? `machine ${machine}`;
}

/** Bits of an address of an instruction set; undefined for a number that is not known. */
export function coffBits(machine: number): 32 | 64 | undefined {
  return machines.get(machine)?.bits;
}
