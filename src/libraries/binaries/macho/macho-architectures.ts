/** Numbers of instruction sets in Mach-O files (mach/machine.h), by the names that Inferyard prints. */
const architectures = new Map<number, string>([
  [7, "x86"],
  [0x01000007, "x86-64"],
  [12, "arm"],
  [0x0100000c, "arm64"],
  [0x0200000c, "arm64_32"],
  [18, "ppc"],
  [0x01000012, "ppc64"],
]);

/** The name of an instruction set; "machine 4711" for a number that is not known. */
export function machoArchitecture(cpuType: number): string {
  return architectures.get(cpuType) ?? `machine ${cpuType}`;
}
